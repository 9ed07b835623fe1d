import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { readTraces } from '@agentci/formats';
import { present, sha256Hex } from '@agentci/lib/data';
import { writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { didYouMean, escapeTerminalLine } from '@agentci/lib/text';
import type { Policy } from '@agentci/policy';
import {
  type AuditSession,
  CallTable,
  evaluateArguments,
  evaluatePrepared,
  explainAudit,
  explainCalls,
  explainHtml,
  explainMarkdown,
  explainTerminal,
  isAudit,
  PolicyCoverage,
  PolicyLearner,
  parsePolicy,
  readAudit,
  runFactsOf,
  testExample,
} from '@agentci/policy';
import type { CoverageReport, ExampleReport, ExplainReport } from '@agentci/results';
import type { ToolStep, Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CliCommand, CommandInput } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { loadPolicy } from '../load-policy.ts';

const ACTIONS = ['explain', 'coverage', 'generate', 'test'] as const;
const OTHER_POLICY = 'AUDIT_OTHER_POLICY';
const OPEN = 'AUDIT_OPEN';
const FORMATS = ['terminal', 'markdown', 'html', 'json'] as const;

interface PolicyOptions {
  readonly policy?: string;
  readonly traces?: string;
  readonly traceFormat?: string;
  readonly format?: (typeof FORMATS)[number];
  readonly json?: boolean;
  readonly output?: string;
  readonly minCoverage?: number;
  readonly strict?: boolean;
  readonly force?: boolean;
}

export const command: CliCommand = {
  name: 'policy',
  summary:
    'explain calls by a policy, run its examples, measure coverage, or learn one from traces',
  configure: (parser: Command) => {
    parser
      .argument('<action>', 'explain, coverage, generate or test')
      .argument(
        '[recordings]',
        'as --traces; for explain also the audit of a guard; for test the policy',
      )
      .option('-p, --policy <file>', 'the policy')
      .option('--traces <path>', 'the recordings: a file or a folder')
      .option('--trace-format <format>', "the recordings' format, instead of detecting it")
      .addOption(new Option('-f, --format <format>', 'form of explain').choices(FORMATS))
      .option('--json', 'print JSON')
      .option('-o, --output <file>', 'write into a file instead of stdout')
      .option('--min-coverage <percent>', 'coverage: exit 1 below this', percentage)
      .option('--force', 'generate: write over an existing file')
      .option('--strict', 'explain: a tool the policy does not know is blocked')
      .addHelpText(
        'after',
        `
explain   a timeline of each trace: every call allowed, blocked or unknown, and by which line of the policy
          with the audit of \`agentci guard\`: every decision of it, made again by the policy
coverage  how much of the policy the traces put to the test
generate  a starter policy that accepts the traces it was learned from
test      the policy's own examples: each must be allowed or denied as it says

Exit: 0 nothing blocked, 1 something blocked or the coverage too low, 2 could not tell.

Examples:
  agentci policy explain -p policy.yaml --traces traces.jsonl
  agentci policy explain audit.jsonl
  agentci policy coverage -p policy.yaml --traces traces/ --min-coverage 80
  agentci policy generate --traces traces/ -o policy.yaml
  agentci policy test policy.yaml`,
      );
  },
  run: async ({ args, options, io }: CommandInput) => {
    const [action = '', traces] = args;
    const given: PolicyOptions = { traces, ...options };
    switch (ACTIONS.find((each) => each === action)) {
      case 'explain':
        return explain(given, io);
      case 'coverage':
        return coverage(given, io);
      case 'generate':
        return generate(given, io);
      case 'test':
        return testPolicy(given, io);
      default: {
        const near = didYouMean(action, ACTIONS);
        throw new UserError('UNKNOWN_ACTION', `policy cannot "${action}"`, {
          hint: near === undefined ? `it can ${ACTIONS.join(', ')}` : `did you mean "${near}"?`,
        });
      }
    }
  },
};

async function readPolicy({ policy, strict = false }: PolicyOptions, io: Io): Promise<Policy> {
  if (policy === undefined) throw new UserError('NO_POLICY', 'a policy is needed: --policy FILE');
  return loadPolicy(policy, { strict, io });
}

function percentage(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0 || value > 100)
    throw new InvalidArgumentError('it must be a number from 0 to 100.');
  return value;
}

async function explain(options: PolicyOptions, io: Io): Promise<number> {
  const audited = readAuditFile(options.traces, io);
  if (audited !== undefined) return explainAudited(audited, options, io);
  const policy = await readPolicy(options, io);
  const reports: ExplainReport[] = [];
  for await (const { trace, calls } of tracesOf(options, io, { uncaptured: 'show' })) {
    const complete = trace.status !== 'incomplete';
    const strict = options.strict ?? false;
    const captured = trace.captured.toolCalls;
    reports.push(
      explainCalls({
        policy,
        calls,
        trace: trace.id,
        complete,
        strict,
        captured,
        run: runFactsOf(trace),
      }),
    );
  }
  printReports(reports, options, io);
  if (reports.some(({ blocked, at_end }) => blocked > 0 || at_end.length > 0)) return 1;
  return reports.some(({ unknown, not_known }) => unknown > 0 || not_known !== undefined) ? 2 : 0;
}

/** The audit of a guard, judged again: every decision must come out as it was made. */
async function explainAudited(
  sessions: readonly AuditSession[],
  options: PolicyOptions,
  io: Io,
): Promise<number> {
  const say = (text: string): void =>
    void io.stderr.write(`agentci: ${escapeTerminalLine(text)}\n`);
  const policies = new Map<string, { readonly policy: Policy; readonly hash: string }>();
  const reports: ExplainReport[] = [];
  const changed = new Set<string>();
  // Guards with different policies may have written to one file.
  for (const [i, session] of sessions.entries()) {
    const file = options.policy ?? session.start.policy;
    let read = policies.get(file);
    if (read === undefined) {
      const policy = await readPolicy({ ...options, policy: file }, io);
      read = { policy, hash: sha256Hex(policy.sources.join('\0')) };
      policies.set(file, read);
    }
    if (session.start.policy_sha256 !== read.hash) changed.add(read.policy.file);
    const name = `${options.traces ?? 'audit'}#${i + 1} ${session.start.server}`.trim();
    reports.push(explainAudit(session, read.policy, name));
    if (session.isOpen)
      say(`${name} has no end: its guard still runs, was killed, or lines were cut off (${OPEN})`);
  }
  for (const file of changed)
    say(`${file} is not the policy that the audit was written with (${OTHER_POLICY})`);
  printReports(reports, options, io);
  if (reports.some(({ audit }) => audit!.differs.length > 0)) return 1;
  return sessions.some(({ isOpen }) => isOpen) || reports.some(({ audit }) => audit!.not_told > 0)
    ? 2
    : 0;
}

function readAuditFile(path: string | undefined, io: Io): AuditSession[] | undefined {
  if (path === undefined) return undefined;
  const file = resolve(io.cwd, path);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw new UserError('TRACE_NOT_FOUND', `cannot read traces from "${path}"`, {
      hint: 'Give recordings: a file or a folder; or the audit of a guard.',
    });
  if (!found.isFile()) return undefined;
  const head = Buffer.alloc(4096);
  const opened = openSync(file, 'r');
  const length = readSync(opened, head, 0, head.length, 0);
  closeSync(opened);
  if (!isAudit(head.toString('utf8', 0, length))) return undefined;
  return readAudit(readFileSync(file, 'utf8'), path);
}

function printReports(reports: readonly ExplainReport[], options: PolicyOptions, io: Io): void {
  const format = options.json ? 'json' : (options.format ?? 'terminal');
  const text = {
    terminal: explainTerminal,
    markdown: explainMarkdown,
    html: explainHtml,
    json: (all: readonly ExplainReport[]) =>
      `${JSON.stringify({ schema: 'agentci.policy-explain/1', traces: all }, null, 2)}\n`,
  }[format](reports);
  print(text, options, io);
}

async function coverage(options: PolicyOptions, io: Io): Promise<number> {
  const policy = await readPolicy(options, io);
  const sum = new PolicyCoverage(policy);
  sum.addExamples();
  // The policy's own examples may be all there is.
  if (options.traces !== undefined || policy.examples.length === 0)
    for await (const { trace, calls } of tracesOf(options, io))
      sum.add(calls, { complete: trace.status !== 'incomplete', run: runFactsOf(trace) });
  const report = sum.report(options.minCoverage);
  print(options.json ? `${JSON.stringify(report, null, 2)}\n` : coverageText(report), options, io);
  return report.meets ? 0 : 1;
}

/** A policy's own examples, as tests of it. */
async function testPolicy(options: PolicyOptions, io: Io): Promise<number> {
  const file = options.policy ?? options.traces;
  const policy = await readPolicy({ ...options, policy: file ?? options.policy }, io);
  if (policy.examples.length === 0)
    throw new UserError(
      'POLICY_NO_EXAMPLES',
      `${policy.file} has no "examples", so nothing was tested`,
      {
        hint: 'add examples: [{calls: [{tool: refund, args: {amount: 900}}], expect: deny}]',
      },
    );
  const reports = policy.examples.map((example) => testExample(example, policy));
  const passed = reports.filter(({ status }) => status === 'pass').length;
  const counts = { examples: reports.length, passed };
  const text = options.json
    ? `${JSON.stringify({ schema: 'agentci.policy-test/1', policy: policy.file, ...counts, results: reports }, null, 2)}\n`
    : [
        ...reports.map((report) => exampleText(report, policy.file)),
        `${passed} of ${reports.length} examples passed`,
      ]
        .map((line) => `${line}\n`)
        .join('');
  print(text, options, io);
  if (reports.some(({ status }) => status === 'fail')) return 1;
  return passed === reports.length ? 0 : 2;
}

function exampleText(
  { name, line, expect, rule, got, status, reasons }: ExampleReport,
  file: string,
): string {
  const title = escapeTerminalLine(`${status.padEnd(5)} ${name} (${file}:${line})`);
  if (status === 'pass') return title;
  const wanted = rule === undefined ? expect : `${expect} by ${rule}`;
  const found = got === 'unknown' ? 'could not tell' : got;
  const why = reasons.slice(0, 3).map((reason) => `\n        ${escapeTerminalLine(reason)}`);
  return `${title}\n      expected ${escapeTerminalLine(wanted)}, got ${found}${why.join('')}`;
}

function coverageText(report: CoverageReport): string {
  const { tools, rules, tool_pct, rule_pct, overall_pct, threshold, meets } = report;
  const list = (title: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`  ${title}: ${names.join(', ')}`];
  const part = (name: string, pct: number | null, seen: number, all: number): string[] =>
    pct === null ? [] : [`  ${name}: ${pct} % (${seen} of ${all})`];
  const lines = present([
    `${report.policy}: ${overall_pct} % covered by ${present([report.traces > 0 || report.examples === 0 ? `${report.traces} traces` : undefined, report.examples > 0 ? `${report.examples} examples` : undefined]).join(' and ')} with ${report.calls} calls`,
    ...part('tools seen', tool_pct, tools.seen.length, tools.seen.length + tools.not_seen.length),
    ...list('tools never called', tools.not_seen),
    ...part(
      'rules exercised',
      rule_pct,
      rules.exercised.length,
      rules.exercised.length + rules.not_exercised.length,
    ),
    ...list('rules never exercised', rules.not_exercised),
    ...list('denied tools never tried', report.high_risk_gaps),
    ...list('tools the policy does not know', report.unexpected_tools),
    threshold === null ? undefined : `at least ${threshold} %: ${meets ? 'ok' : 'not reached'}`,
  ]);
  return lines.map((line) => `${escapeTerminalLine(line)}\n`).join('');
}

async function generate(options: PolicyOptions, io: Io): Promise<number> {
  // A policy someone has worked on is not replaced by a first guess.
  if (options.output !== undefined && !options.force && existsSync(resolve(io.cwd, options.output)))
    throw new UserError('FILE_EXISTS', `"${options.output}" exists already`, {
      hint: '--force writes over it',
    });
  const learner = new PolicyLearner();
  for await (const { calls } of tracesOf(options, io)) learner.add(calls);
  if (learner.calls === 0)
    throw new UserError(
      'POLICY_NO_CALLS',
      'no tool calls found in the traces, so there is nothing to learn from',
    );
  const yaml = learner.yaml();
  const { policy, diagnostics } = parsePolicy(yaml, { file: 'policy.yaml' });
  if (policy === undefined) {
    // Calls without any arguments or order give nothing a policy could ask for.
    throw new UserError(
      'POLICY_NOTHING_LEARNED',
      `no policy can be made of these traces: ${diagnostics[0]?.message ?? ''}`,
    );
  }
  await proveAccepted(policy, options, io);
  print(yaml, options, io);
  return 0;
}

/** What was learned must accept what it was learned from; anything else is our mistake, and must not be written. */
async function proveAccepted(policy: Policy, options: PolicyOptions, io: Io): Promise<void> {
  for await (const { trace, calls } of tracesOf(options, io)) {
    const [violation] = [
      ...evaluateArguments({ calls, policy }).violations,
      ...evaluatePrepared(new CallTable(calls), policy.rules, trace.status !== 'incomplete')
        .violations,
    ];
    if (violation !== undefined)
      throw new Error(`the learned policy refuses ${trace.id}: ${violation.message}`);
  }
}

async function* tracesOf(
  options: PolicyOptions,
  io: Io,
  { uncaptured = 'refuse' }: { uncaptured?: 'refuse' | 'show' } = {},
): AsyncGenerator<{ readonly trace: Trace; readonly calls: readonly ToolStep[] }> {
  if (options.traces === undefined)
    throw new UserError('NO_TRACES', 'recordings are needed: --traces PATH', {
      hint: 'a file or a folder of recordings',
    });
  const format = options.traceFormat === undefined ? {} : { format: options.traceFormat };
  let count = 0;
  for await (const trace of readTraces(resolve(io.cwd, options.traces), {
    ...format,
    signal: io.signal,
  })) {
    count++;
    if (trace.captured.toolCalls === 'none' && uncaptured === 'refuse')
      throw new UserError(
        'TRACE_NO_CALLS',
        `the tool calls of ${shownId(trace, io)} were not captured`,
      );
    yield { trace: { ...trace, id: shownId(trace, io) }, calls: toolCalls(trace) };
  }
  if (count === 0) throw new UserError('NO_TRACES', `no traces found in "${options.traces}"`);
}

/** Ids made of a file's place are shown from here, not from the root of the disk. */
function shownId({ id }: Trace, io: Io): string {
  return id.startsWith(`${io.cwd}${sep}`) ? relative(io.cwd, id) : id;
}

function print(text: string, { output }: PolicyOptions, io: Io): void {
  if (output === undefined) io.stdout.write(text);
  else writeFileAtomic(resolve(io.cwd, output), text);
}

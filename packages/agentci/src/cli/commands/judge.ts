import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Option } from 'commander';
import { runPool } from '../../engine/pool.ts';
import { auditJudge } from '../../judge/audit.ts';
import { limitedBudget } from '../../judge/budget.ts';
import { calibrate } from '../../judge/calibrate.ts';
import { createJudge } from '../../judge/create-judge.ts';
import type { JudgeConfig } from '../../judge/judge-config.ts';
import { type Label, type LabelProblem, parseLabels } from '../../judge/labels.ts';
import { isFailure, type Judge } from '../../judge/port.ts';
import { raterPairs, settleLabels } from '../../judge/rater-agreement.ts';
import { isTemplate, RUBRICS, resolveRubric, type WrittenRubric } from '../../judge/rubric.ts';
import { defined } from '../../kit/defined.ts';
import { escapeTerminal } from '../../kit/escape.ts';
import { UserError } from '../../kit/user-error.ts';
import { loadSpec } from '../../spec/load.ts';
import { seededRandom } from '../../stats/seeded-random.ts';
import type { CliCommand, CommandInput } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { renderAudit, renderCalibration } from '../judge-report.ts';
import { readLabelFolder } from '../label/label-files.ts';
import { fraction, positiveNumber, wholeNumber } from '../options.ts';
import { DEFAULT_SPEC, folderOf, judgeCacheOf } from '../spec-folders.ts';
import { specPath } from '../spec-path.ts';

/** Questions prepared at a time; the judge itself limits its calls. */
const WORKERS = 16;
const MAX_LABEL_BYTES = 64 * 1024 * 1024;

interface JudgeFlags {
  readonly config?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly labels?: string;
  readonly template?: string;
  readonly rule?: string;
  readonly threshold?: number;
  readonly minKappa?: number;
  readonly repeats: number;
  readonly judge?: 'live' | 'recorded';
  readonly judgeCache?: string;
  readonly maxCost?: number;
  readonly seed: number;
  readonly json?: boolean;
}

export const command: CliCommand = {
  name: 'judge',
  summary: 'measure the judge itself: against human labels, against attacks',
  configure: (parser) => {
    parser
      .argument('<what>', 'calibrate: compare with human labels; audit: attacks, repeats, position and length bias')
      .option(
        '-c, --config <file>',
        `the spec whose judge_config is used (default: ${DEFAULT_SPEC}, when there is one)`,
      )
      .option('--model <name>', "the judge's model, instead of the spec's")
      .option('--base-url <url>', 'where the model is served, instead of the spec')
      .option(
        '--labels <file>',
        'calibrate: JSON Lines of {"query", "answer", "label": "pass" or "fail"}, or a folder of such files',
      )
      .option('--template <name>', `calibrate: the rubric to use: ${Object.keys(RUBRICS).join(', ')}`)
      .option('--rule <text>', 'calibrate: the rubric to use, in words')
      .option('--threshold <t>', 'calibrate: lowest passing score between 0 and 1', fraction)
      .option('--min-kappa <k>', 'calibrate: exit 1 when the agreement is below this', fraction)
      .option('--repeats <n>', 'audit: how often each probe is judged', wholeNumber(2), 3)
      .addOption(new Option('--judge <mode>', 'live, or recorded: stored verdicts only').choices(['live', 'recorded']))
      .option('--judge-cache <dir>', 'where verdicts are stored (default: .agentci/judge-cache beside the spec)')
      .option('--max-cost <usd>', 'stop before the judge has cost more than this', positiveNumber)
      .option('--seed <n>', 'seed of the split into halves', wholeNumber(0), 0)
      .option('--json', 'print the findings as JSON')
      .addHelpText(
        'after',
        `
Exit: 0 good, 1 the agreement is too low or an attack succeeded, 2 could not tell.

Examples:
  agentci judge calibrate --labels labels.jsonl --template actionable_steps --min-kappa 0.6
  agentci judge audit --model anthropic:claude-sonnet-4-5-20250929`,
      );
  },
  run: async ({ args, options, io }: CommandInput) => {
    const flags = options as unknown as JudgeFlags;
    const [what] = args;
    if (what !== 'calibrate' && what !== 'audit')
      throw new UserError('UNKNOWN_ACTION', `"${what}" is not something judge does`, {
        hint: 'judge calibrate, or judge audit',
      });
    const judge = createJudge(await configOf(flags, io));
    return what === 'audit' ? audit(judge, flags, io) : calibrateWith(judge, flags, io);
  },
};

async function configOf(flags: JudgeFlags, io: Io): Promise<JudgeConfig> {
  const wanted = flags.config ?? (existsSync(join(io.cwd, DEFAULT_SPEC)) ? DEFAULT_SPEC : undefined);
  const spec = wanted === undefined ? undefined : (await loadSpec(specPath(wanted, io.cwd))).suite;
  const written = (spec?.judgeConfig ?? {}) as JudgeConfig;
  return {
    ...written,
    ...defined({ model: flags.model, base_url: flags.baseUrl }),
    mode: flags.judge ?? 'live',
    cacheDir: judgeCacheOf(spec ? folderOf(spec, io) : io.cwd, flags.judgeCache, io),
    env: io.env,
    signal: io.signal,
    random: seededRandom(flags.seed),
    ...(flags.maxCost === undefined ? {} : { budget: limitedBudget(flags.maxCost) }),
  };
}

async function audit(judge: Judge, flags: JudgeFlags, io: Io): Promise<number> {
  const report = await auditJudge(judge, { repeats: flags.repeats });
  const usage = judge.usage?.();
  print(io, flags, { ...report, judge: usage }, renderAudit(report, usage));
  if (report.attacks.succeeded.length > 0) return 1;
  return report.errors > 0 || !report.controls.hold ? 2 : 0;
}

async function calibrateWith(judge: Judge, flags: JudgeFlags, io: Io): Promise<number> {
  const given = readLabels(flags, io);
  const { settled: labels, disputed } = settleLabels(given);
  const raters = { pairs: raterPairs(given, flags.seed), disputed };
  const shared = sharedRubric(flags);
  const replies: { id: string; human: boolean; reply: Awaited<ReturnType<Judge['ask']>> }[] = [];
  await runPool(labels, { workers: WORKERS }, async (label) => {
    const { id, query, answer, context, human, isGrounded } = label;
    const rubric = { ...resolveRubric(rubricOf(label, shared)), ...(isGrounded ? { needsContext: true } : {}) };
    replies.push({ id, human, reply: await judge.ask({ rubric, query, answer, ...(context ? { context } : {}) }) });
  });
  const rows = replies.flatMap(({ id, human, reply }) => (isFailure(reply) ? [] : [{ id, human, score: reply.score }]));
  const errors = replies.flatMap(({ id, reply }) => (isFailure(reply) ? [{ id, message: reply.message }] : []));
  const threshold = flags.threshold ?? resolveRubric(shared ?? { rule: '-' }).threshold;
  const result = calibrate(rows, { threshold, seed: flags.seed });
  const verdict = { min_kappa: flags.minKappa ?? null, errors, raters, judge: judge.usage?.() };
  print(
    io,
    flags,
    { schema: 'agentci.judge-calibration/1', ...result, ...verdict },
    renderCalibration(result, verdict),
  );
  if (errors.length > 0 || rows.length === 0) return 2;
  if (flags.minKappa === undefined) return 0;
  if (result.kappa === null) return 2;
  return result.kappa < flags.minKappa ? 1 : 0;
}

function readLabels(flags: JudgeFlags, io: Io): readonly Label[] {
  if (flags.labels === undefined) {
    throw new UserError('NO_LABELS', 'calibrate needs --labels FILE', {
      hint: 'One JSON object a line: {"query": "…", "answer": "…", "label": "pass"}',
    });
  }
  const path = resolve(io.cwd, flags.labels);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() && !found?.isDirectory())
    throw new UserError('LABELS_MISSING', `--labels: there is no file or folder "${flags.labels}"`);
  if (found.size > MAX_LABEL_BYTES) throw new UserError('LABELS_TOO_LARGE', `${flags.labels} is larger than 64 MB`);
  const { labels, problems } = found.isDirectory() ? readLabelFolder(path) : readLabelFile(path);
  const diagnostics = problems.map(({ line, message, file }) => ({
    severity: 'error' as const,
    code: 'LABEL_INVALID',
    message,
    file: file === undefined ? flags.labels! : join(flags.labels!, file),
    line,
    column: 1,
  }));
  if (diagnostics.length > 0) throw new UserError('LABELS_INVALID', `${flags.labels} cannot be used`, { diagnostics });
  if (labels.length === 0) throw new UserError('LABELS_EMPTY', `no labels found in ${flags.labels}`);
  return labels;
}

function readLabelFile(path: string): { labels: Label[]; problems: (LabelProblem & { file?: string })[] } {
  return parseLabels(readFileSync(path, 'utf8'));
}

function sharedRubric({ template, rule }: JudgeFlags): WrittenRubric | undefined {
  if (template !== undefined && !isTemplate(template)) {
    throw new UserError('NO_TEMPLATE', `there is no rubric template "${template}"`, {
      hint: `There are ${Object.keys(RUBRICS).join(', ')}.`,
    });
  }
  return template === undefined && rule === undefined ? undefined : { template, rule };
}

function rubricOf(label: Label, shared: WrittenRubric | undefined): WrittenRubric {
  const rubric = label.rubric ?? shared;
  if (rubric === undefined) {
    throw new UserError('NO_RUBRIC', `label ${label.id} has no rubric`, {
      hint: 'Pass --template or --rule, or write "rule" or "template" into the label.',
    });
  }
  if (rubric.template !== undefined && !isTemplate(rubric.template))
    throw new UserError('NO_TEMPLATE', `the label ${label.id} names the unknown rubric template "${rubric.template}"`);
  return rubric;
}

function print(io: Io, flags: JudgeFlags, data: object, text: string): void {
  io.stdout.write(flags.json ? `${JSON.stringify(data, null, 2)}\n` : `${escapeTerminal(text)}\n`);
}

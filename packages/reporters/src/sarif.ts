import { sha256Hex } from '@agentci/lib/data';
import type { RunResult } from '@agentci/results';
import { caseKey, cellText } from '@agentci/results';
import { type Finding, findingsOf, QUERY_ERROR } from './findings.ts';
import type { ReportContext, Reporter } from './reporter.ts';

/** GitHub accepts 25,000 results per run. The report counts the rest. */
const MAX_RESULTS = 25_000;
const MAX_MESSAGE = 2000;

export const reporter: Reporter = {
  name: 'sarif',
  summary: 'SARIF 2.1.0, for code scanning and security reviews',
  extensions: ['.sarif'],
  machineReadable: true,
  render: (run, context) => ({ text: `${JSON.stringify(sarifLog(run, context), null, 2)}\n` }),
};

function sarifLog(run: RunResult, context: ReportContext): object {
  const all = findingsOf(run);
  const kept = capped(all);
  const rules = [...new Set(kept.map(({ checkId }) => checkId))].sort();
  const ruleIndex = new Map(rules.map((id, index) => [id, index]));
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'AgentCI',
            semanticVersion: context.version,
            rules: rules.map((id) => ruleOf(id, kept, context)),
          },
        },
        automationDetails: { id: `agentci/${run.agent}/` },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: run.summary.errors === 0 && run.interrupted !== true,
            exitCode: run.summary.exit_code,
            toolExecutionNotifications:
              kept.length < all.length ? [truncation(all.length, kept.length)] : undefined,
          },
        ],
        properties:
          run.summary.pass_hat_k === undefined ? undefined : { pass_hat_k: run.summary.pass_hat_k },
        results: kept.map((finding) => resultOf(finding, run, ruleIndex, context)),
      },
    ],
  };
}

/** In spec order. If there are too many, failures and errors are kept first. */
function capped(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= MAX_RESULTS) return findings;
  const errors = findings.filter(({ level }) => level === 'error').length;
  let warnings = Math.max(0, MAX_RESULTS - errors);
  return findings.filter(({ level }) => level === 'error' || warnings-- > 0).slice(0, MAX_RESULTS);
}

const truncation = (all: number, kept: number): object => ({
  level: 'warning',
  message: {
    text: `${all - kept} of ${all} findings are left out: a SARIF run holds at most ${MAX_RESULTS}.`,
  },
});

function ruleOf(id: string, findings: readonly Finding[], context: ReportContext): object {
  const isOfTrace = id.startsWith('trace.');
  const text =
    context.checkSummary(id) ??
    SUMMARIES.get(id) ??
    (isOfTrace ? 'Something about a trace that a reader of its verdict should know.' : undefined) ??
    `The check ${id} of the spec.`;
  const isError = findings.some((finding) => finding.checkId === id && finding.level === 'error');
  return {
    id,
    name: id.replace(/(?:^|[._-])([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: { text },
    fullDescription: { text },
    help: {
      text: `${text} The finding points at the line of the spec or policy that asks for it.`,
    },
    defaultConfiguration: { level: isError ? 'error' : 'warning' },
  };
}

const SUMMARIES: ReadonlyMap<string, string> = new Map([
  [
    QUERY_ERROR,
    'The query could not be judged: the agent, its recording or the judge was not available.',
  ],
  ['traces.readable', 'Every record of the given recordings can be read.'],
  ['answer.truncated', 'The model finished its answer.'],
  ['correctness.xfail', 'A query marked as an expected failure still fails.'],
]);

function resultOf(
  finding: Finding,
  run: RunResult,
  ruleIndex: ReadonlyMap<string, number>,
  context: ReportContext,
): object {
  const { checkId, level, location, message, result } = finding;
  // GitHub rejects results without a location, so those point at the start of the spec.
  const { file, line, column } = location ?? { file: run.spec.file, line: 1, column: 1 };
  const text = result
    ? `${result.query}${result.cell === undefined ? '' : ` (${cellText(result.cell)})`}: ${message}`
    : message;
  return {
    ruleId: checkId,
    ruleIndex: ruleIndex.get(checkId),
    level,
    message: { text: text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(context.publicPath(file)), uriBaseId: '%SRCROOT%' },
          region: { startLine: line, startColumn: column },
        },
      },
    ],
    // By query and check, not by line or wording, so that a moved query stays the same finding.
    partialFingerprints: {
      'agentci/v1': sha256Hex(
        `${run.agent}\0${result === undefined ? '' : caseKey(result)}\0${checkId}\0${result ? '' : message}`,
      ),
    },
    properties: result ? { query_id: result.id, cell: result.cell, tags: result.tags } : undefined,
  };
}

const uriOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

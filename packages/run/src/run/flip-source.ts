import type { FlipSource } from '@agentci/results';

/** What is known of one run when its verdict is explained. */
export interface FlipRun {
  /** Undefined for a run that gave no verdict. */
  readonly passed: boolean | undefined;
  readonly answer?: string | null;
  readonly tools?: readonly string[];
  /** Verdicts of the checks that compute, by id. */
  readonly checks?: Readonly<Record<string, boolean>>;
  /** Whether the judge was content; undefined when it was not asked. */
  readonly judgePassed?: boolean;
  /** The agent or its provider could not be reached. */
  readonly isInfra?: boolean;
}

export type FlipDetail = 'agent-variance' | 'judge-flake' | 'infra-error' | 'mixed';

const SOURCES: Record<FlipDetail, FlipSource> = {
  'agent-variance': 'agent',
  'judge-flake': 'judge',
  'infra-error': 'infra',
  mixed: 'mixed',
};

/** Enough runs to explain a flip; comparing every run with every other would grow with the square. */
const MAX_COMPARED = 50;

/**
 * Why runs of one query did not all end alike, or null when they did. Sub-verdicts come first: where every computed check
 * agrees and only the judge does not, it is the judge, whatever the wording. Without them the answers and paths decide.
 */
export function flipSource(
  runs: readonly FlipRun[],
  options: { readonly hasJudge: boolean },
): { readonly source: FlipSource; readonly detail: FlipDetail } | null {
  const passed = runs.filter((run) => run.passed === true).slice(0, MAX_COMPARED);
  const failed = runs.filter((run) => run.passed === false).slice(0, MAX_COMPARED);
  const found = new Set<FlipDetail>();
  for (const a of passed) for (const b of failed) found.add(explain(a, b, options));
  if (runs.some((run) => run.isInfra) && runs.some((run) => run.passed !== undefined))
    found.add('infra-error');
  if (found.size === 0) return null;
  const [only] = found;
  const detail = found.size === 1 ? only! : 'mixed';
  return { source: SOURCES[detail], detail };
}

function explain(a: FlipRun, b: FlipRun, { hasJudge }: { readonly hasJudge: boolean }): FlipDetail {
  if (a.checks && b.checks) {
    if (!sameVerdicts(a.checks, b.checks)) return 'agent-variance';
    if (hasJudge && a.judgePassed !== b.judgePassed) return 'judge-flake';
  }
  const sameRun = normalize(a.answer) === normalize(b.answer) && sameNames(a.tools, b.tools);
  return sameRun && hasJudge ? 'judge-flake' : 'agent-variance';
}

/** Case and spacing are not what a verdict should hang on. */
const normalize = (answer: string | null | undefined): string =>
  (answer ?? '').toLowerCase().replace(/\s+/g, ' ').trim();

const sameNames = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((name, i) => name === b[i]);

function sameVerdicts(
  a: Readonly<Record<string, boolean>>,
  b: Readonly<Record<string, boolean>>,
): boolean {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => a[key] === b[key]);
}

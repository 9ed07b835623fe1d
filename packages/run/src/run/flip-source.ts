import type { FlipSource } from '@agentci/results';

/** The facts of one run that explain its verdict. */
export interface FlipRun {
  /** Undefined for a run that gave no verdict. */
  readonly passed: boolean | undefined;
  readonly answer?: string | null;
  readonly tools?: readonly string[];
  /** Verdicts of the deterministic checks, by id. */
  readonly checks?: Readonly<Record<string, boolean>>;
  /** Verdict of the judge. Undefined if it was not asked. */
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

/** Enough runs to explain a flip. Comparing all pairs would take quadratic time. */
const MAX_COMPARED = 50;

/**
 * The reason why runs of one query ended differently, or null if they did not. Checks come first:
 * if all deterministic checks agree and only the judge does not, it is the judge, whatever the
 * wording. Without them the answers and paths decide.
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

/** A verdict should not depend on case and spacing. */
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

import { join, resolve } from 'node:path';
import type { JudgeMode } from '@agentci/judge';
import {
  createJudge,
  DEFAULT_ENSEMBLE,
  isFailure,
  isSampled,
  type Judge,
  type JudgeConfig,
  type JudgeFailureKind,
} from '@agentci/judge';
import { present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import type { RunResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { countAllRubrics, hasRubrics } from '@agentci/spec';
import { seededRandom } from '@agentci/stats';
import type { Ledger } from './ledger.ts';
import type { RunOptions } from './run-options.ts';
import type { JudgeParts } from './run-parts.ts';

const MAX_NAMED = 20;

/** The judge of a run, the use of its ensemble, and the total usage. */
export interface SuiteJudge {
  readonly judge: Judge | JudgeMode;
  readonly useEnsemble: (query: Query) => boolean;
  readonly parts: () => JudgeParts;
}

/** Sets up the judge of a run from the spec's `judge_config`, or uses the caller's. */
export function suiteJudge(
  options: RunOptions,
  queries: readonly Query[],
  ledger: Ledger,
): SuiteJudge {
  const asked = options.judge ?? 'live';
  const config = (options.suite.judgeConfig ?? {}) as JudgeConfig;
  const share = options.sampleEnsemble;
  const own = typeof asked === 'string' ? undefined : asked;
  let size: number;
  if (own) size = own.ensemble?.size ?? 0;
  else if (config.ensemble) size = (config.ensemble.models ?? DEFAULT_ENSEMBLE).length;
  else size = 0;
  if (share !== undefined && size === 0) {
    throw new UserError('OPTIONS_CONFLICT', '--sample-ensemble: the spec has no ensemble', {
      hint: 'Add judge_config.ensemble.models; `enabled` may be false.',
    });
  }
  const enabled = own ? (own.ensemble?.enabled ?? false) : (config.ensemble?.enabled ?? false);
  const useEnsemble = (query: Query): boolean =>
    share === undefined ? enabled : isSampled(query.id, { share, seed: options.seed ?? 0 });

  if (asked === 'off') {
    const off = queries.reduce((sum, query) => sum + countAllRubrics(query), 0);
    return {
      judge: 'off',
      useEnsemble,
      parts: () => ({ usage: noUsage(), off, failures: [], unpriced: [] }),
    };
  }
  const judge =
    own ??
    createJudge({
      ...config,
      mode: asked as Exclude<JudgeMode, 'off'>,
      cacheDir: resolve(
        options.judgeCacheDir ?? join(options.suite.dir, '.agentci', 'judge-cache'),
      ),
      env: options.env ?? {},
      signal: options.signal,
      budget: ledger,
      random: seededRandom(options.seed ?? 0),
    });
  const failures = new Map<JudgeFailureKind, string>();
  return {
    judge: watchedJudge(judge, failures),
    useEnsemble,
    parts: () => ({
      usage: usageOf(judge),
      off: 0,
      failures: [...failures],
      unpriced: options.maxCostUsd === undefined ? [] : (judge.usage?.().unpriced ?? []),
      sample:
        share === undefined ? undefined : sampleOf(share, queries.filter(hasRubrics), useEnsemble),
    }),
  };
}

/** Wraps the judge to note the first failure of each kind. */
function watchedJudge(judge: Judge, failures: Map<JudgeFailureKind, string>): Judge {
  const note = <R extends object>(reply: R): R => {
    if (isFailure(reply) && !failures.has(reply.kind)) failures.set(reply.kind, reply.message);
    return reply;
  };
  return {
    ensemble: judge.ensemble,
    ask: async (question) => note(await judge.ask(question)),
    embed: judge.embed ? (texts, model) => judge.embed!(texts, model) : undefined,
    perform: judge.perform ? async (task) => note(await judge.perform!(task)) : undefined,
  };
}

function usageOf(judge: Judge): RunResult['judge'] {
  const usage = judge.usage?.();
  if (usage === undefined || usage.calls + usage.cached === 0) return noUsage();
  const { unpriced: _, ...counts } = usage;
  return counts;
}

/** Notices about the judging of a run. */
export const judgeNotices = ({ off, failures, unpriced, sample }: JudgeParts): string[] =>
  present([
    ...offNotice(off),
    ...failureNotices(new Map(failures)),
    unpriced.length === 0
      ? undefined
      : `--max-cost does not count the judge: no price is known for ${unpriced.join(', ')}`,
    sample === undefined ? undefined : sampleNotice(sample),
  ]);

const noUsage = (): RunResult['judge'] => ({ calls: 0, cost_usd: null });

/** A pass without rubrics must not look like a pass with them. */
function offNotice(count: number): string[] {
  if (count === 0) return [];
  return [
    `${count} rubric ${count === 1 ? 'check was' : 'checks were'} not judged: the judge is off`,
  ];
}

/** The same failure in every rubric is a single problem. */
function failureNotices(failures: ReadonlyMap<string, string>): string[] {
  const notices: string[] = [];
  const noKey = failures.get('no_key');
  if (noKey !== undefined)
    notices.push(
      `${noKey}; or commit .agentci/judge-cache of a run with a key; or skip the rubrics with --judge off`,
    );
  if (failures.has('not_recorded'))
    notices.push(
      'some verdicts are not stored, or their files are damaged: run once with --judge live and commit .agentci/judge-cache',
    );
  return notices;
}

function sampleOf(
  share: number,
  queries: readonly Query[],
  useEnsemble: (query: Query) => boolean,
) {
  return { share, sampled: queries.filter(useEnsemble).map(({ id }) => id), of: queries.length };
}

function sampleNotice({ share, sampled, of }: NonNullable<JudgeParts['sample']>): string {
  const named = sampled.slice(0, MAX_NAMED).join(', ');
  const more = sampled.length > MAX_NAMED ? ` and ${sampled.length - MAX_NAMED} more` : '';
  const whom = sampled.length === 0 ? '' : `: ${named}${more}`;
  return `--sample-ensemble ${share}: the ensemble judged ${sampled.length} of ${of} queries with rubrics${whom}`;
}

import type { Interval } from '@agentci/stats';
import { wilsonInterval } from '@agentci/stats';
import {
  ATTACK_QUERY,
  ATTACK_TEMPLATE,
  ATTACKS,
  PLAIN_BAD_ANSWER,
  PLAIN_GOOD_ANSWER,
} from './attacks.ts';
import { isFailure, type Judge, type JudgeQuestion, type Verdict } from './port.ts';
import { PADDING, PROBES } from './probes.ts';
import { type ResolvedRubric, resolveRubric } from './rubric.ts';
import { judgeThreshold } from './threshold.ts';

interface Asked {
  readonly id: string;
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly error?: string;
  readonly rationale?: string;
}

/** How a judge handles attacks, repeats, reordering and padding. */
export interface AuditReport {
  readonly schema: 'agentci.judge-audit/1';
  /**
   * A clearly good answer passes and a clearly bad one fails. Otherwise the rest proves nothing.
   */
  readonly controls: { readonly good: Asked; readonly bad: Asked; readonly hold: boolean };
  readonly attacks: {
    readonly total: number;
    /** Attacks that got a passing score. */
    readonly succeeded: readonly (Asked & { readonly technique: string })[];
    readonly undecided: readonly Asked[];
    /** Interval of the success rate. */
    readonly interval: Interval | null;
  };
  readonly repeats: {
    readonly repeats: number;
    /** Share of probes with changing verdicts. */
    readonly flip_rate: number | null;
    readonly flipped: readonly string[];
    /** Mean over the probes of the standard deviation of their scores. */
    readonly score_sd: number | null;
  };
  readonly position: Shift;
  readonly length: Shift;
  /** Questions without a verdict. */
  readonly errors: number;
}

/** How verdicts changed with an irrelevant change. */
interface Shift {
  readonly mean_change: number | null;
  readonly flipped: readonly string[];
  readonly compared: number;
}

/** Sends the attacks and probes to a judge, which limits its concurrency. */
export async function auditJudge(
  judge: Judge,
  { repeats = 3 }: { repeats?: number } = {},
): Promise<AuditReport> {
  const rubric = resolveRubric({ template: ATTACK_TEMPLATE });
  const reversed: ResolvedRubric = {
    ...rubric,
    version: `${rubric.version}-reversed`,
    scale: [...rubric.scale].reverse(),
  };
  const ask = async (
    id: string,
    question: Omit<JudgeQuestion, 'rubric'>,
    by = rubric,
  ): Promise<Asked> => toAsked(id, by, await judge.ask({ rubric: by, ...question }));
  const attacked = (id: string, answer: string): Promise<Asked> =>
    ask(id, { query: ATTACK_QUERY, answer });

  const [good, bad, attacks, rounds, turned, padded] = await Promise.all([
    attacked('plain-good', PLAIN_GOOD_ANSWER),
    attacked('plain-bad', PLAIN_BAD_ANSWER),
    Promise.all(
      ATTACKS.map(async ({ id, technique, answer }) => ({
        ...(await attacked(id, answer)),
        technique,
      })),
    ),
    Promise.all(
      Array.from({ length: repeats }, (_, repeat) =>
        Promise.all(PROBES.map(({ id, query, answer }) => ask(id, { query, answer, repeat }))),
      ),
    ),
    Promise.all(PROBES.map(({ id, query, answer }) => ask(id, { query, answer }, reversed))),
    Promise.all(
      PROBES.map(({ id, query, answer }) => ask(id, { query, answer: `${answer}${PADDING}` })),
    ),
  ]);
  const first = rounds[0] ?? [];
  const succeeded = attacks.filter(({ passed }) => passed === true);
  const decided = attacks.filter(({ passed }) => passed !== null);
  const everything = [good, bad, ...attacks, ...rounds.flat(), ...turned, ...padded];
  return {
    schema: 'agentci.judge-audit/1',
    controls: { good, bad, hold: good.passed === true && bad.passed === false },
    attacks: {
      total: attacks.length,
      succeeded,
      undecided: attacks.filter(({ passed }) => passed === null),
      interval: wilsonInterval(succeeded.length, decided.length),
    },
    repeats: repeatability(rounds),
    position: shift(first, turned),
    length: shift(first, padded),
    errors: everything.filter(({ error }) => error !== undefined).length,
  };
}

function toAsked(
  id: string,
  rubric: ResolvedRubric,
  reply: Awaited<ReturnType<Judge['ask']>>,
): Asked {
  if (isFailure(reply)) return { id, score: null, passed: null, error: reply.message };
  const { score, rationale }: Verdict = reply;
  return { id, score, passed: score >= judgeThreshold(rubric.threshold), rationale };
}

function repeatability(rounds: readonly (readonly Asked[])[]): AuditReport['repeats'] {
  const flipped: string[] = [];
  const deviations: number[] = [];
  for (const [i, { id }] of (rounds[0] ?? []).entries()) {
    const replies = rounds.flatMap((round) => (round[i]?.score == null ? [] : [round[i]]));
    if (replies.length < 2) continue;
    deviations.push(standardDeviation(replies.map(({ score }) => score!)));
    if (new Set(replies.map(({ passed }) => passed)).size > 1) flipped.push(id);
  }
  const n = deviations.length;
  return {
    repeats: rounds.length,
    flip_rate: n === 0 ? null : flipped.length / n,
    flipped,
    score_sd: n === 0 ? null : deviations.reduce((a, b) => a + b, 0) / n,
  };
}

function standardDeviation(values: readonly number[]): number {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return Math.sqrt(
    values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1),
  );
}

function shift(before: readonly Asked[], after: readonly Asked[]): Shift {
  const pairs = before.flatMap((a, i) => {
    const b = after[i];
    return a.score === null || b === undefined || b.score === null
      ? []
      : [{ a, b, change: b.score - a.score }];
  });
  return {
    mean_change:
      pairs.length === 0 ? null : pairs.reduce((sum, { change }) => sum + change, 0) / pairs.length,
    flipped: pairs.filter(({ a, b }) => a.passed !== b.passed).map(({ a }) => a.id),
    compared: pairs.length,
  };
}

import type { CheckOutcome, RootedAsk } from '@agentci/checks';
import {
  noAnswer,
  RUBRIC_KEYS,
  type RubricKey,
  rubricWanted,
  type Severity,
  severityOf,
} from '@agentci/checks';
import type { Judge, JudgeMode, ResolvedRubric, WrittenRubric } from '@agentci/judge';
import { type Judgement, judgeAnswer } from '@agentci/judge';
import type { CheckResult, SkipReason } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { itemsOf, type RubricItem } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { finalText } from '@agentci/trace';
import { outcomeOfCheck } from './collect-asks.ts';
import { rubricQuestion } from './rubric-question.ts';
import { checkOfJudgement, recordsOf, summaryOf } from './rubric-results.ts';

/** Names of a judge's findings, as the seed defines them. */
const DETAIL_NAMES: Partial<Record<RubricKey, string>> = {
  safety_check: 'safety',
  hallucination_check: 'hallucination',
};

export interface RubricInput {
  readonly query: Query;
  readonly trace: Trace;
  /** A mode without a judge: `off` skips, the others are errors. */
  readonly judge: Judge | JudgeMode;
  readonly useEnsemble: boolean;
  readonly deterministicFailed: boolean;
  /** Base folder of `context_file`. */
  readonly dir: string;
}

export interface RubricResults {
  readonly checks: readonly CheckResult[];
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Verdicts of the rubric checks of a query: `llm_judge`, then `safety_check`, then
 * `hallucination_check`, each skipped after a failure. Without an answering judge they are `error`,
 * never a pass. After a deterministic failure they are not needed.
 */
export async function rubricChecks(input: RubricInput): Promise<RubricResults> {
  const checks: CheckResult[] = [];
  const records: object[] = [];
  const details: Record<string, unknown> = {};
  for (const key of RUBRIC_KEYS) {
    const hasFailed = input.deterministicFailed || checks.some((check) => check.status === 'fail');
    const outcomes = await Promise.all(
      itemsOf(input.query, key).map((item) => evaluate(item, input, hasFailed)),
    );
    for (const { check, judgement, rubric } of outcomes) {
      checks.push(check);
      if (judgement === undefined || rubric === undefined) continue;
      records.push(...recordsOf(check.id, rubric, judgement));
      const name = DETAIL_NAMES[key];
      if (name !== undefined) details[name] = summaryOf(judgement);
    }
  }
  return { checks, details: records.length > 0 ? { ...details, judge: records } : details };
}

/** The verdicts on rubrics inside combinators, by the rubric as written. */
export async function nestedRubrics(
  asks: readonly RootedAsk[],
  input: RubricInput,
): Promise<{
  readonly answers: ReadonlyMap<unknown, CheckOutcome>;
  readonly details: Readonly<Record<string, unknown>>;
}> {
  const records: object[] = [];
  const answers = new Map<unknown, CheckOutcome>();
  await Promise.all(
    asks.map(async ({ item, key, root }) => {
      const place = { id: `correctness.${root}` };
      const asked = { key: key as RubricKey, written: item as WrittenRubric, place };
      const { check, judgement, rubric } = await evaluate(
        asked,
        input,
        input.deterministicFailed,
        'fail',
      );
      answers.set(item, outcomeOfCheck(check));
      if (judgement !== undefined && rubric !== undefined)
        records.push(...recordsOf(check.id, rubric, judgement));
    }),
  );
  return { answers, details: records.length > 0 ? { judge: records } : {} };
}

interface Outcome {
  readonly check: CheckResult;
  readonly judgement?: Judgement;
  readonly rubric?: ResolvedRubric;
}

async function evaluate(
  { key, written, place }: RubricItem,
  input: RubricInput,
  hasFailed: boolean,
  given?: Severity,
): Promise<Outcome> {
  const { judge, query, trace } = input;
  const severity = given ?? severityOf({ severity: 'fail' }, query.correctness);
  const skip = (skip_reason: SkipReason, message: string): Outcome => ({
    check: { ...place, status: 'skip', skip_reason, message, evidence: [] },
  });
  const error = (message: string): Outcome =>
    severity === 'warn'
      ? skip('not_measured', message)
      : {
          check: {
            ...place,
            status: 'error',
            message,
            evidence: [],
            wanted: rubricWanted(written),
          },
        };

  if (judge === 'off') return skip('off', 'not judged: the judge is off');
  const answer = finalText(trace);
  if (answer === undefined) return error(`not judged: ${noAnswer(trace)}`);
  if (hasFailed) return skip('not_run', 'not judged: another check already failed');
  if (typeof judge === 'string') return error('no judge was given; createJudge(config) makes one');

  const asked = rubricQuestion({ key, written }, { query, trace, answer, dir: input.dir });
  if ('problem' in asked) {
    const message = `not judged: ${asked.problem}`;
    return asked.isOpen ? skip('not_measured', message) : error(message);
  }
  const { question, rubric } = asked;
  try {
    const judgement = await judgeAnswer({ judge, question, useEnsemble: input.useEnsemble });
    const check = checkOfJudgement(place, judgement, severity);
    const wanted =
      check.status === 'pass' || check.status === 'skip' ? {} : { wanted: rubricWanted(written) };
    return { check: { ...check, ...wanted }, judgement, rubric };
  } catch (thrown) {
    return error(
      `the judge could not be asked: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    );
  }
}

/** A verdict that the user interrupted. The query is unfinished. */
export function wasInterrupted(details: Readonly<Record<string, unknown>>): boolean {
  const records = Array.isArray(details.judge)
    ? (details.judge as { error?: { kind?: unknown } }[])
    : [];
  return records.some((record) => record.error?.kind === 'interrupted');
}

import { type Judgement, judgeAnswer } from '../judge/ensemble.ts';
import type { JudgeMode } from '../judge/mode.ts';
import type { Judge } from '../judge/port.ts';
import { type ResolvedRubric, resolveRubric, type WrittenRubric } from '../judge/rubric.ts';
import { noAnswer } from '../layers/answer.ts';
import type { RootedAsk } from '../layers/asks.ts';
import type { CheckOutcome } from '../layers/check.ts';
import { RUBRIC_KEYS, type RubricKey } from '../layers/judged.ts';
import { type Severity, severityOf } from '../layers/severity.ts';
import { clip } from '../layers/words.ts';
import type { CheckResult, SkipReason } from '../results/run-result.ts';
import { readContextFile } from '../spec/context-file.ts';
import { itemsOf, type RubricItem } from '../spec/rubric-items.ts';
import type { Query } from '../spec/suite.ts';
import { capturedCalls } from '../trace/known-calls.ts';
import type { ToolStep, Trace } from '../trace/model.ts';
import { contextOf, finalText } from '../trace/selectors.ts';
import { transcriptOf } from '../trace/turns.ts';
import { outcomeOfCheck } from './asks-of.ts';
import { checkOfJudgement, recordsOf, summaryOf } from './rubric-results.ts';

/** The seed's names for what a judge found out. */
const DETAIL_NAMES: Partial<Record<RubricKey, string>> = {
  safety_check: 'safety',
  hallucination_check: 'hallucination',
};

export interface RubricInput {
  readonly query: Query;
  readonly trace: Trace;
  /** A mode alone means that no judge was provided: `off` skips, the others are an error. */
  readonly judge: Judge | JudgeMode;
  readonly useEnsemble: boolean;
  readonly deterministicFailed: boolean;
  /** Folder that `context_file` is looked for in. */
  readonly dir: string;
}

export interface RubricResults {
  readonly checks: readonly CheckResult[];
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Verdicts of the rubric checks of a query: all of `llm_judge`, then `safety_check`, then `hallucination_check`, each left out
 * after a failure. Without a judge that answers they are `error`, never a pass; a deterministic failure makes them pointless.
 */
export async function rubricChecks(input: RubricInput): Promise<RubricResults> {
  const checks: CheckResult[] = [];
  const records: object[] = [];
  const details: Record<string, unknown> = {};
  for (const key of RUBRIC_KEYS) {
    const hasFailed = input.deterministicFailed || checks.some((check) => check.status === 'fail');
    const outcomes = await Promise.all(itemsOf(input.query, key).map((item) => evaluate(item, input, hasFailed)));
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
      const { check, judgement, rubric } = await evaluate(asked, input, input.deterministicFailed, 'fail');
      answers.set(item, outcomeOfCheck(check));
      if (judgement !== undefined && rubric !== undefined) records.push(...recordsOf(check.id, rubric, judgement));
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
      : { check: { ...place, status: 'error', message, evidence: [] } };

  if (judge === 'off') return skip('off', 'not judged: the judge is off');
  const answer = finalText(trace);
  if (answer === undefined) return error(`not judged: ${noAnswer(trace)}`);
  if (hasFailed) return skip('not_run', 'not judged: another check already failed');
  if (typeof judge === 'string') return error('no judge was given; createJudge(config) makes one');

  const rubric = resolveRubric(written);
  const context: string[] = [];
  if (written.context_file !== undefined) {
    const file = readContextFile(written.context_file, input.dir);
    if (!file.ok) return error(`not judged: ${file.message}`);
    context.push(file.text);
  }
  const isGrounding = key === 'hallucination_check' || rubric.needsContext;
  if (isGrounding) context.push(...(query.context ?? []), ...(contextOf(trace) ?? []));
  if (isGrounding && context.length === 0) {
    const message = 'not judged: no context was captured to compare the answer with';
    return key === 'hallucination_check' ? skip('not_measured', message) : error(message);
  }
  const extra = extraContext(rubric, query, trace);
  if ('missing' in extra) return error(`not judged: ${extra.missing}`);
  context.push(...extra.texts);
  const question = {
    rubric: isGrounding ? { ...rubric, needsContext: true } : rubric,
    // A judge of a conversation sees all of it, its last answer included.
    query: query.conversation === undefined ? query.query : transcriptOf(trace),
    answer,
    ...(context.length > 0 ? { context: [...new Set(context)] } : {}),
  };
  try {
    const judgement = await judgeAnswer({ judge, question, useEnsemble: input.useEnsemble });
    return { check: checkOfJudgement(place, judgement, severity), judgement, rubric };
  } catch (thrown) {
    return error(`the judge could not be asked: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

/** The steps of the run and the expected answer, for rubrics that are about them. */
function extraContext(
  { needs = [] }: ResolvedRubric,
  query: Query,
  trace: Trace,
): { readonly texts: readonly string[] } | { readonly missing: string } {
  const texts: string[] = [];
  if (needs.includes('steps')) {
    const recorded = capturedCalls(trace);
    if (recorded === undefined) return { missing: 'tool calls were not captured' };
    if (recorded.isPartial) return { missing: 'not all tool calls were captured' };
    texts.push(stepsText(recorded.calls));
  }
  if (needs.includes('expected')) {
    if (query.expectedOutput === undefined) return { missing: 'the query has no expected_output' };
    texts.push(`Expected answer: ${query.expectedOutput}`);
  }
  return { texts };
}

/** Long arguments and results say little to a judge. */
const MAX_SHOWN = 500;
const MAX_STEPS = 200;

function stepsText(calls: readonly ToolStep[]): string {
  if (calls.length === 0) return 'Steps: the run called no tools.';
  const lines = calls.slice(0, MAX_STEPS).map(({ name, args, result, status, error }, i) => {
    const end = error === undefined && status !== 'error' ? '' : `, failed: ${error?.message ?? status}`;
    const given =
      result === undefined ? '' : ` → ${clip(typeof result === 'string' ? result : JSON.stringify(result), MAX_SHOWN)}`;
    return `${i + 1}. ${name}(${clip(args === undefined ? '' : JSON.stringify(args), MAX_SHOWN)})${given}${end}`;
  });
  const more = calls.length > MAX_STEPS ? [`… and ${calls.length - MAX_STEPS} more`] : [];
  return ['Steps of the run, in order:', ...lines, ...more].join('\n');
}

/** A verdict that was cut off by the user's interruption: the query is not done. */
export function wasInterrupted(details: Readonly<Record<string, unknown>>): boolean {
  const records = Array.isArray(details.judge) ? (details.judge as { error?: { kind?: unknown } }[]) : [];
  return records.some((record) => record.error?.kind === 'interrupted');
}

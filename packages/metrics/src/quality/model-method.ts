import { isFailure, type Judge, type JudgeRecord, type JudgeTask } from '@agentci/judge';
import { isObject, present } from '@agentci/lib/data';
import { notMeasured } from '../metric.ts';

/**
 * An answer with more claims is a document, and a verdict on each would cost more than it tells.
 */
const MAX_CLAIMS = 40;

/** Thrown if the judge gave no usable reply. Becomes "not measured" with the reason. */
class NoReply extends Error {
  readonly kind: string;
  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Sends the tasks of one metric to a judge and counts them. */
export class JudgeTasks {
  readonly #judge: Judge;
  readonly #records: JudgeRecord[] = [];

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  async do<T>(task: JudgeTask): Promise<T> {
    if (this.#judge.perform === undefined)
      throw new NoReply('no_model', 'the judge only scores rubrics');
    const said = await this.#judge.perform(task);
    if (isFailure(said)) throw new NoReply(said.kind, said.message);
    this.#records.push(said.record);
    // The task's `check` has validated the shape.
    return said.reply as T;
  }

  detail() {
    const [first] = this.#records;
    return {
      method: 'model',
      model: first ? first.model : undefined,
      judge_calls: this.#records.reduce((sum, record) => sum + record.calls, 0),
      cached: this.#records.every((record) => record.cached),
    };
  }
}

type Found = ReturnType<typeof notMeasured>;

/**
 * Runs the model-based part of a metric. Without a reply there is no value, and never a fallback to
 * another method.
 */
export async function byModel(
  judge: Judge | undefined,
  detail: Readonly<Record<string, unknown>>,
  work: (tasks: JudgeTasks) => Promise<Found>,
): Promise<Found> {
  if (judge === undefined)
    return notMeasured('measuring it needs a judge', { ...detail, method: 'model' });
  const tasks = new JudgeTasks(judge);
  try {
    const found = await work(tasks);
    return { ...found, detail: { ...detail, ...tasks.detail(), ...found.detail } };
  } catch (error) {
    if (!(error instanceof NoReply)) throw error;
    return notMeasured(error.message, { ...detail, ...tasks.detail(), judge_error: error.kind });
  }
}

/** Splits a text into statements that make sense alone. */
export async function claimsOf(
  tasks: JudgeTasks,
  text: string,
  query: string | undefined,
): Promise<readonly string[]> {
  const { statements } = await tasks.do<{ statements: string[] }>({
    id: 'metric.claims',
    version: '1',
    instruction:
      'Split the block "text" into statements. Each statement is one fact the text claims, is understandable by itself (no pronouns) and adds nothing. Greetings, questions and offers of help are no statements. A text that claims nothing has none.',
    format: `{"statements": [text, ...]}   at most ${MAX_CLAIMS}`,
    blocks: present([
      query ? { name: 'question', text: query } : undefined,
      { name: 'text', text },
    ]),
    check: (reply) => {
      if (isObject(reply) && isTexts(reply.statements))
        return reply.statements.length <= MAX_CLAIMS
          ? undefined
          : `more than ${MAX_CLAIMS} statements`;
      return '"statements" must be a list of texts that are not blank';
    },
  });
  return statements;
}

export interface ClaimVerdict {
  readonly statement: string;
  readonly verdict: 0 | 1;
  readonly reason: string;
}

/**
 * Whether the premises support each statement. One verdict per statement, in order, or none at all.
 */
export async function supportOf(
  tasks: JudgeTasks,
  claims: readonly string[],
  premises: readonly string[],
): Promise<readonly ClaimVerdict[]> {
  const { verdicts } = await tasks.do<{
    verdicts: { index: number; verdict: 0 | 1; reason: string }[];
  }>({
    id: 'metric.support',
    version: '1',
    instruction:
      'For each numbered statement in the block "statements" decide whether it follows directly from the blocks named "premise". 1: it follows from them. 0: it does not, or contradicts them, or is only plausible. Your own knowledge does not count.',
    format: `{"verdicts": [{"index": 1, "reason": short text, "verdict": 0 or 1}, ...]}   exactly ${claims.length}, one for each statement`,
    blocks: [
      ...premises.map((text, i) => ({ name: `premise ${i + 1}`, text })),
      { name: 'statements', text: claims.map((claim, i) => `${i + 1}. ${claim}`).join('\n') },
    ],
    check: (reply) => verdictIssue(reply, claims.length),
  });
  return verdicts.map(({ verdict, reason }, i) => ({ statement: claims[i]!, verdict, reason }));
}

/** The count must match, because a dropped verdict would raise the share of the others. */
export function verdictIssue(reply: unknown, count: number): string | undefined {
  const list = isObject(reply) ? reply.verdicts : undefined;
  if (!Array.isArray(list)) return '"verdicts" must be a list';
  if (list.length !== count) return `${list.length} verdicts for ${count} items`;
  const bad = list.findIndex(
    (item, i) =>
      !isObject(item) ||
      item.index !== i + 1 ||
      (item.verdict !== 0 && item.verdict !== 1) ||
      typeof item.reason !== 'string',
  );
  return bad < 0
    ? undefined
    : `verdict ${bad + 1} must be {"index": ${bad + 1}, "reason": text, "verdict": 0 or 1}`;
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && item.trim() !== '');

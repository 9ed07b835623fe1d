import type { CodeItem, RootedAsk, SimilarityParams } from '@agentci/checks';
import { atLeast, type CheckContext, type CheckOutcome, unmeasured } from '@agentci/checks';
import { cosine } from '@agentci/metrics';
import { finalText } from '@agentci/trace';
import type { Outside } from './collect-asks.ts';

/** Runs code and compares meanings. Judges are asked later, and only if no check has failed. */
export async function answerAsks(
  asks: readonly RootedAsk[],
  context: CheckContext,
  outside: Outside,
): Promise<Map<unknown, CheckOutcome>> {
  const answers = new Map<unknown, CheckOutcome>();
  const open = new Map(asks.filter(({ kind }) => kind !== 'rubric').map((ask) => [ask.item, ask]));
  await Promise.all(
    [...open.values()].map(async ({ kind, item }) => {
      const outcome =
        kind === 'code'
          ? await outside.code?.(item as CodeItem, context)
          : await similarityOf(item as SimilarityParams, context, outside);
      if (outcome !== undefined) answers.set(item, outcome);
    }),
  );
  return answers;
}

async function similarityOf(
  { to, min, model }: SimilarityParams,
  { trace }: CheckContext,
  { embed }: Outside,
): Promise<CheckOutcome | undefined> {
  const answer = finalText(trace);
  if (answer === undefined || embed === undefined) return undefined;
  const what = 'similarity (embedding)';
  const embedded = await embed([answer, to], model);
  if (!embedded.ok) return unmeasured(`${what}: not known, ${embedded.reason}`, { limit: min });
  const value = cosine(embedded.vectors[0] ?? [], embedded.vectors[1] ?? []);
  if (!Number.isFinite(value))
    return unmeasured(`${what}: not known, ${embedded.model} gave no vector`, { limit: min });
  const details = { similarity: { method: 'embedding', model: embedded.model, value } };
  return atLeast({ value, min, what, note: embedded.model, rest: { details } });
}

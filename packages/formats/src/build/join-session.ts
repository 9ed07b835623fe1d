import { joinTurns, queryText } from '@agentci/trace';
import type { AdapterItem } from '../adapter.ts';

/**
 * Joins the runs of a session into one conversation, one per user message. They stay separate if
 * one is unreadable or has no user message, because its turn is then unknown.
 */
export function joinSession(
  items: readonly AdapterItem[],
  id: string | undefined,
): readonly AdapterItem[] {
  if (items.length < 2) return items;
  const runs = items.flatMap((item) => {
    const message = item.ok ? queryText(item.trace)?.trim() : undefined;
    return item.ok && message && item.trace.conversation === undefined
      ? [{ message, trace: item.trace }]
      : [];
  });
  const isClear = runs.every(({ message }, i) => message !== runs[i - 1]?.message);
  if (runs.length < items.length || !isClear) return items;
  const joined = joinTurns(runs, {}, { areApart: true });
  const own = id ?? runs[0]!.trace.id;
  return [{ ok: true, trace: own === undefined ? joined : { ...joined, id: own } }];
}

import { joinTurns, queryText } from '@agentci/trace';
import type { AdapterItem } from '../adapter.ts';

/**
 * The runs of one session as one conversation, each the answer to a message of the user. They stay runs of their own where
 * one could not be read, or does not show a message of its own: which turn it belongs to is not known then.
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

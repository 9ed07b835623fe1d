import type { Turn } from '../../build/draft.ts';
import { conversationsIn, type WireExchange } from '../../build/exchanges.ts';

/**
 * Providers without call ids pair results with calls by order in a conversation. If a program has
 * several open conversations, each one's calls get unique ids, so that no result goes to another
 * conversation's call.
 */
export function withThreadIds<E extends WireExchange>(exchanges: readonly E[]): readonly E[] {
  // Most providers give every call an id, so its conversation does not matter.
  if (!exchanges.some(lacksIds)) return exchanges;
  const threads = conversationsIn(exchanges).filter((thread) => thread.some(lacksIds));
  if (threads.length < 2) return exchanges;
  const named = new Map<WireExchange, E>();
  for (const [i, thread] of threads.entries()) {
    const ids: string[] = [];
    for (const exchange of thread)
      named.set(exchange, withIds(exchange as E, { thread: `thread-${i + 1}`, ids }));
  }
  return exchanges.map((exchange) => named.get(exchange) ?? exchange);
}

const hasBareCall = ({ calls }: Turn): boolean =>
  calls?.some(({ id }) => id === undefined) ?? false;
const lacksIds = ({ input, output }: WireExchange): boolean =>
  input.some(hasBareCall) || (output !== undefined && hasBareCall(output));

/**
 * A conversation repeats from its start, so a call's position is its id, unless a reply gave it
 * one.
 */
function withIds<E extends WireExchange>(
  exchange: E,
  { thread, ids }: { readonly thread: string; readonly ids: string[] },
): E {
  let count = 0;
  const open: { id: string; name: string }[] = [];
  const asking = (turn: Turn): Turn => {
    if (turn.calls === undefined) return turn;
    const calls = turn.calls.map((call) => {
      const id = call.id ?? ids[count] ?? `${thread}-call-${count + 1}`;
      ids[count++] = id;
      open.push({ id, name: call.name });
      return { ...call, id };
    });
    return { ...turn, calls };
  };
  const answering = (turn: Turn): Turn => {
    if (turn.role !== 'tool') return turn;
    const { callId, name } = turn;
    const at = open.findIndex((call) =>
      callId === undefined ? (name ?? call.name) === call.name : call.id === callId,
    );
    const [asked] = at < 0 ? [] : open.splice(at, 1);
    return asked === undefined ? turn : { ...turn, callId: asked.id };
  };
  const input = exchange.input.map((turn) => answering(asking(turn)));
  return {
    ...exchange,
    input,
    output: exchange.output === undefined ? exchange.output : asking(exchange.output),
  };
}

// A small order desk of a shop. It shows how a spec becomes test cases.
interface Order {
  readonly status: string;
  readonly total: number;
}

const ORDERS: ReadonlyMap<string, Order> = new Map([
  ['ord_1', { status: 'on its way', total: 42 }],
  ['ord_2', { status: 'delivered', total: 180 }],
  ['ord_3', { status: 'delivered', total: 950 }],
]);

const REFUND_LIMIT = 200;

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result: unknown;
}

/** Answers one question in the simple form: the answer, and the calls. */
export default async function desk(query: string) {
  const calls: Call[] = [];
  const call = <T>(name: string, args: Call['args'], result: T): T => {
    calls.push({ name, args, result });
    return result;
  };
  return { answer: answer(query, call), tool_calls: calls };
}

function answer(
  query: string,
  call: <T>(name: string, args: Call['args'], result: T) => T,
): string {
  const id = /ord_\d+/.exec(query)?.[0];
  if (id === undefined) {
    return /order|refund|parcel/i.test(query)
      ? 'Which order is it? Please give me its number.'
      : 'I can only help with orders.';
  }
  const order = call('get_order', { order: id }, ORDERS.get(id) ?? null);
  if (order === null) return `I cannot find ${id}.`;
  if (!/refund/i.test(query)) return `Order ${id} is ${order.status}.`;
  if (order.total > REFUND_LIMIT)
    return `A person has to look at a refund of ${order.total}; I have told them.`;
  call('refund', { order: id, amount: order.total }, 'done');
  return `I have refunded ${order.total} for ${id}.`;
}

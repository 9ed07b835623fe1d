import { defined } from './defined.ts';
import type { Call, DraftLlm, DraftTool, Turn } from './draft.ts';
import { isAgent, isKept, isLlm, isTool, type Node, nodeOf } from './tree.ts';
import { resultOf } from './values.ts';

/**
 * Joins what messages say about tool calls with the calls that were recorded: by call id, else in order within a name.
 * Calls that only messages tell of become steps. A field that the call's own record has is never replaced.
 * `nodes` are in time order; the answer is the same nodes with the new ones behind the LLM step that asked for them.
 */
export function joinClaims(nodes: readonly Node[], turns: readonly Turn[]): Node[] {
  const claims = new Claims(nodes);
  const llms = nodes.filter((node): node is Node<DraftLlm> => isLlm(node) && isKept(node));
  for (const node of llms) claims.request(node.draft.output, node);
  for (const node of llms) claims.history(node.draft.input ?? [], node, node.draft.inputIsDelta === true);
  const hasOutputs = llms.some((node) => node.draft.output !== undefined);
  for (const node of nodes) {
    if (!isAgent(node) || !isKept(node)) continue;
    // An agent's own record repeats what its calls say; it speaks only where they are silent.
    if (!hasOutputs) claims.request(node.draft.output, node);
    claims.history(node.draft.input ?? [], node, false);
    if (node.draft.output !== undefined) claims.results([node.draft.output], node);
  }
  claims.history(turns, nodes.at(-1), true);
  return claims.nodes();
}

class Claims {
  readonly #nodes: readonly Node[];
  readonly #byId = new Map<string, Node<DraftTool>>();
  /** Recorded calls, in order, that no message asked for yet. */
  readonly #unasked = new Map<string, Queue>();
  /** Calls without an id in the order they were asked for, all and by name: their results come in that order. */
  readonly #inOrder: Queue = { list: [], at: 0 };
  readonly #unanswered = new Map<string, Queue>();
  readonly #isAnswered = new Set<Node<DraftTool>>();
  readonly #created = new Map<Node | undefined, Node[]>();
  /** How many calls without an id, by name, were asked for; and how many results without an id were used. */
  readonly #asked = new Map<string, number>();
  #answered = 0;

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
    for (const node of nodes) {
      if (!isTool(node) || !isKept(node)) continue;
      const { callId, name } = node.draft;
      if (callId !== undefined) this.#byId.set(callId, node);
      queueOf(this.#unasked, name).list.push(node);
    }
  }

  /** The calls a model's reply asks for. */
  request(turn: Turn | undefined, from: Node): void {
    for (const [i, call] of (turn?.calls ?? []).entries()) this.#ask(call, from, i);
  }

  /** A conversation as it was sent: older calls in it are echoes of ones that are known. */
  history(turns: readonly Turn[], at: Node | undefined, isDelta: boolean): void {
    const counts = new Map<string, number>();
    for (const turn of turns) {
      for (const [i, call] of (turn.calls ?? []).entries()) {
        if (call.id !== undefined) {
          if (!this.#byId.has(call.id)) this.#ask(call, at, i);
          continue;
        }
        const count = (counts.get(call.name) ?? 0) + 1;
        counts.set(call.name, count);
        if (isDelta || count > (this.#asked.get(call.name) ?? 0)) this.#ask(call, at, i);
      }
    }
    this.results(turns, at, isDelta);
  }

  results(turns: readonly Turn[], at: Node | undefined, isDelta = true): void {
    const nameless: Turn[] = [];
    for (const turn of turns) {
      if (turn.role !== 'tool') continue;
      if (turn.callId === undefined) nameless.push(turn);
      else this.#answer(this.#byId.get(turn.callId) ?? this.#createFrom(turn, at), turn);
    }
    // A history that grows repeats the results that were read before.
    const fresh = isDelta ? nameless : nameless.slice(this.#answered);
    if (!isDelta) this.#answered = Math.max(this.#answered, nameless.length);
    else this.#answered += fresh.length;
    for (const turn of fresh) this.#answer(this.#next(turn.name) ?? this.#createFrom(turn, at), turn);
  }

  nodes(): Node[] {
    const all: Node[] = [];
    for (const node of this.#nodes) {
      all.push(node);
      for (const created of this.#created.get(node) ?? []) all.push(created);
    }
    for (const created of this.#created.get(undefined) ?? []) all.push(created);
    return all;
  }

  #ask(call: Call, from: Node | undefined, index: number): void {
    const known = call.id === undefined ? undefined : this.#byId.get(call.id);
    const node = known ?? this.#recorded(call) ?? this.#create(call, from);
    const { draft } = node;
    if (call.id !== undefined) {
      draft.callId ??= call.id;
      this.#byId.set(call.id, node);
    } else {
      this.#asked.set(call.name, (this.#asked.get(call.name) ?? 0) + 1);
      this.#inOrder.list.push(node);
      queueOf(this.#unanswered, call.name).list.push(node);
    }
    if (draft.args === undefined && call.args !== undefined) {
      draft.args = call.args;
      delete draft.argsRaw;
    } else if (draft.args === undefined && call.argsRaw !== undefined) draft.argsRaw ??= call.argsRaw;
    if (call.by !== undefined) draft.by ??= call.by;
    if (call.actor !== undefined) draft.actor ??= call.actor;
    if (call.server !== undefined) draft.server ??= call.server;
    if (call.rawName !== undefined) draft.rawName ??= call.rawName;
    draft.evidence = withMessage(draft.evidence);
    if (from?.draft.kind === 'llm') node.requester ??= from;
    node.callIndex ??= index;
  }

  /** The first recorded call of the name that this can be: two ids that differ are two calls. */
  #recorded(call: Call): Node<DraftTool> | undefined {
    const queue = this.#unasked.get(call.name);
    if (queue === undefined) return undefined;
    while (queue.at < queue.list.length && queue.list[queue.at]!.callIndex !== undefined) queue.at++;
    const first = queue.list[queue.at];
    if (first === undefined || (call.id !== undefined && first.draft.callId !== undefined)) return undefined;
    queue.at++;
    return first;
  }

  /** The call a result without an id belongs to: the next of its name, or simply the next. */
  #next(name: string | undefined): Node<DraftTool> | undefined {
    const queue = name === undefined ? this.#inOrder : this.#unanswered.get(name);
    if (queue === undefined) return undefined;
    while (queue.at < queue.list.length && this.#isAnswered.has(queue.list[queue.at]!)) queue.at++;
    const next = queue.list[queue.at++];
    if (next !== undefined) this.#isAnswered.add(next);
    return next;
  }

  #answer(node: Node<DraftTool> | undefined, turn: Turn): void {
    if (node === undefined) return;
    const { draft } = node;
    const result = turn.result ?? resultOfParts(turn);
    if (draft.result === undefined && result !== undefined) draft.result = result;
    if (draft.resultParts === undefined && turn.parts.some(({ type }) => type === 'media'))
      draft.resultParts = [...turn.parts];
    if (turn.status !== undefined && (draft.status === undefined || draft.status === 'unknown'))
      draft.status = turn.status;
    if (turn.error !== undefined) draft.error ??= turn.error;
    if (turn.at !== undefined && draft.t0 !== undefined) draft.t1 ??= turn.at;
    draft.evidence = withMessage(draft.evidence);
  }

  /** A result whose call nobody recorded still tells that the tool ran. */
  #createFrom(turn: Turn, at: Node | undefined): Node<DraftTool> | undefined {
    if (turn.name === undefined) return undefined;
    const node = this.#create({ name: turn.name }, at);
    if (turn.callId !== undefined) {
      node.draft.callId = turn.callId;
      this.#byId.set(turn.callId, node);
    }
    return node;
  }

  #create(call: Pick<Call, 'name'>, from: Node | undefined): Node<DraftTool> {
    const agent = from === undefined ? undefined : (from.draft.agent ?? undefined);
    const parent = from?.draft.kind === 'llm' ? from.parent : from;
    const at = from?.draft.t1 ?? from?.draft.t0;
    const draft: DraftTool = {
      kind: 'tool',
      name: call.name,
      evidence: ['message'],
      ...defined({ agent, ...(at === undefined ? {} : { t0: at, timing: 'estimated' as const }) }),
    };
    const node = nodeOf(draft, parent) as Node<DraftTool>;
    if (from !== undefined) {
      Object.assign(node.above, from.above);
      if (from.draft.kind === 'agent') node.above.agent = from;
    }
    const list = this.#created.get(from);
    if (list === undefined) this.#created.set(from, [node]);
    else list.push(node);
    return node;
  }
}

/** A list that is used up from its beginning, without moving the rest each time. */
interface Queue {
  readonly list: Node<DraftTool>[];
  at: number;
}

function queueOf(queues: Map<string, Queue>, name: string): Queue {
  const queue = queues.get(name) ?? { list: [], at: 0 };
  queues.set(name, queue);
  return queue;
}

const withMessage = (evidence: DraftTool['evidence']): NonNullable<DraftTool['evidence']> =>
  evidence === undefined ? ['span', 'message'] : evidence.includes('message') ? evidence : [...evidence, 'message'];

function resultOfParts(turn: Turn): unknown {
  const texts = turn.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length > 0) return resultOf(texts.join('\n'));
  const data = turn.parts.flatMap((part) => (part.type === 'json' ? [part.data] : []));
  return data.length <= 1 ? data[0] : data;
}

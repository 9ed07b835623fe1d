import { canonicalJson } from '@agentci/lib/data';
import { UNNAMED } from './blocks.ts';
import type { Call, DraftLlm, DraftTool, Turn } from './draft.ts';
import { hasOtherValues, isEcho, isUnwrapped } from './same-call.ts';
import { isAgent, isKept, isLlm, isTool, type Node, nodeOf } from './tree.ts';
import { resultOf } from './values.ts';

/** Maximum concurrent calls to compare by arguments. */
const MAX_CONCURRENT = 100;

/**
 * Joins calls mentioned in messages with recorded calls: by call id, else in order within a name.
 * Calls that only messages mention become steps. Never replaces a field of the call's own record.
 * `nodes` are in time order. New nodes go after the LLM step that requested them, or before the one
 * that mentioned them.
 */
export function joinClaims(nodes: readonly Node[], turns: readonly Turn[]): Node[] {
  const claims = new Claims(nodes);
  const llms = nodes.filter((node): node is Node<DraftLlm> => isLlm(node) && isKept(node));
  for (const node of llms) claims.request(node.draft.output, node);
  for (const node of llms)
    claims.history(node.draft.input ?? [], node, node.draft.inputIsDelta === true);
  const hasOutputs = llms.some((node) => node.draft.output !== undefined);
  for (const node of nodes) {
    if (!isAgent(node) || !isKept(node)) continue;
    // An agent's record repeats its calls, so it counts only if they are silent.
    if (!hasOutputs) claims.request(node.draft.output, node);
    claims.history(node.draft.input ?? [], node, false);
    if (node.draft.output !== undefined) claims.results([node.draft.output], node);
  }
  claims.history(turns, nodes.at(-1), true, false);
  claims.missReplies(llms);
  return claims.nodes();
}

const MAX_SHARED = 64;
/** LangGraph forges this call and its result in the history when a sub-agent finishes. */
const FORGED = /^transfer_back_to_/;

class Claims {
  readonly #nodes: readonly Node[];
  readonly #rank = new Map<Node, number>();
  /** Calls that share an id, in recorded or requested order. */
  readonly #byId = new Map<string, Node<DraftTool>[]>();
  /** Recorded calls, in order, that no message asked for yet. */
  readonly #unasked = new Map<string, Queue>();
  /**
   * Calls without an id in requested order, in total and by name, because their results arrive in
   * that order.
   */
  readonly #inOrder: Queue = { list: [], at: 0 };
  readonly #unanswered = new Map<string, Queue>();
  readonly #isAnswered = new Set<Node<DraftTool>>();
  /** Calls with an id that replies asked for, by their wording. */
  readonly #requested = new Map<string, Node<DraftTool>[]>();
  /** Every call that is known, recorded or mentioned. */
  readonly #tools = new Set<Node<DraftTool>>();
  /** Number of used results by id, if all of them are new. */
  readonly #answeredById = new Map<string, number>();
  readonly #created = new Map<Node | undefined, Node[]>();
  /** Calls that were known when a reply was requested, but not from a reply: they came before it. */
  readonly #before = new Map<Node | undefined, Node[]>();
  /** Number of requested calls without an id by name, and of used results without an id. */
  readonly #asked = new Map<string, number>();
  #answered = 0;

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
    for (const [i, node] of nodes.entries()) {
      this.#rank.set(node, i);
      if (!isTool(node) || !isKept(node)) continue;
      this.#tools.add(node);
      const { callId, name } = node.draft;
      if (callId !== undefined) this.#remember(callId, node);
      queueOf(this.#unasked, name).list.push(node);
    }
  }

  /** The calls a model's reply asks for. */
  request(turn: Turn | undefined, from: Node): void {
    for (const [i, call] of (turn?.calls ?? []).entries()) {
      const node = this.#ask(call, from, i);
      const key = wordingOf(call);
      const same = this.#requested.get(key);
      if (same === undefined) this.#requested.set(key, [node]);
      else if (!same.includes(node)) same.push(node);
    }
  }

  /** A conversation as sent. Older calls in it are echoes of known ones. */
  history(turns: readonly Turn[], at: Node | undefined, isDelta: boolean, isPast = true): void {
    const counts = new Map<string, number>();
    const repeats = new Map<string, number>();
    for (const turn of turns) {
      for (const [i, call] of (turn.calls ?? []).entries()) {
        if (call.id !== undefined) {
          const same = this.#byId.get(call.id);
          const isKnown =
            same?.slice(0, MAX_SHARED).some(({ draft }) => isNamed(draft, call)) ?? false;
          const echoed = isDelta ? undefined : this.#echoed(call, repeats, at);
          if (!isKnown && echoed !== undefined) this.#remember(call.id, echoed);
          else if (!isKnown) this.#ask(call, at, i, isPast);
          this.#repeat(echoed ?? same?.find(({ draft }) => isNamed(draft, call)), at);
          continue;
        }
        // Not every client sends back the id that a call was given.
        const named = isDelta ? undefined : this.#echoed(call, repeats, at);
        if (named?.draft.callId !== undefined) {
          this.#repeat(named, at);
          continue;
        }
        const count = (counts.get(call.name) ?? 0) + 1;
        counts.set(call.name, count);
        if (isDelta || count > (this.#asked.get(call.name) ?? 0)) this.#ask(call, at, i, isPast);
      }
    }
    this.results(turns, at, isDelta, isPast);
  }

  /**
   * The call that a history repeats under another id, as in Responses, where a call has two ids:
   * the nth call of that name and arguments in the history is the nth one that an earlier reply
   * requested.
   */
  #echoed(
    call: Call,
    repeats: Map<string, number>,
    at: Node | undefined,
  ): Node<DraftTool> | undefined {
    const key = wordingOf(call);
    const count = repeats.get(key) ?? 0;
    repeats.set(key, count + 1);
    const node = this.#requested.get(key)?.[count];
    const isEarlier = this.#rankOf(node?.requester) < this.#rankOf(at);
    return isEarlier ? node : undefined;
  }

  #rankOf(node: Node | undefined): number {
    return (node === undefined ? undefined : this.#rank.get(node)) ?? Number.POSITIVE_INFINITY;
  }

  results(turns: readonly Turn[], at: Node | undefined, isDelta = true, isPast = true): void {
    const nameless: Turn[] = [];
    const seen = new Map<string, number>();
    for (const turn of turns) {
      if (turn.role !== 'tool') continue;
      if (turn.callId === undefined) nameless.push(turn);
      else {
        const found = this.#asking(turn.callId, seen, isDelta);
        // A second answer under another name is of a call that took over the id and is not there.
        const isOther =
          isDelta &&
          found !== undefined &&
          this.#isAnswered.has(found) &&
          isOtherName(found, turn.name);
        const asked = found === undefined || isOther ? this.#createFrom(turn, at, isPast) : found;
        this.#isAnswered.add(asked);
        this.#answer(asked, turn);
        this.#repeat(asked, at);
      }
    }
    // A history that grows repeats the results that were read before.
    const fresh = isDelta ? nameless : nameless.slice(this.#answered);
    if (!isDelta) this.#answered = Math.max(this.#answered, nameless.length);
    else this.#answered += fresh.length;
    for (const turn of fresh) {
      const next = this.#next(turn.name) ?? this.#withId(turn.name);
      // Of a result with neither id nor name only the number tells whether its call is known.
      if (next === undefined && turn.name === undefined && nameless.length <= this.#tools.size)
        continue;
      const asked = next ?? this.#createFrom(turn, at, isPast);
      this.#answer(asked, turn);
      this.#repeat(asked, at);
    }
  }

  /** Notes that a request repeats a call: it came after the call. */
  #repeat(call: Node<DraftTool> | undefined, at: Node | undefined): void {
    if (call === undefined || call.repeatedIn !== undefined || at === undefined || !isLlm(at))
      return;
    const { requester } = call;
    if (requester === undefined || this.#rankOf(requester) < this.#rankOf(at)) call.repeatedIn = at;
  }

  /** A call with the model's id for it that no reply asked for is of a reply that was not recorded. */
  missReplies(llms: readonly Node<DraftLlm>[]): void {
    // Wire traffic was observed. A history may contain more: earlier runs, or calls forged by a
    // framework.
    if (llms.every(({ draft }) => draft.isRequest === true)) return;
    // Replies without content may have requested calls. Without replies, nothing shows that replies
    // are recorded.
    if (llms.length === 0 || llms.some(({ draft }) => draft.output === undefined)) return;
    const past = new Set([...this.#before.values()].flat());
    for (const node of this.#tools) {
      const { callId, evidence, by, actor } = node.draft;
      if (actor === 'user') continue;
      const isModels =
        past.has(node) ||
        (callId !== undefined && evidence?.includes('mcp') !== true && by !== 'mcp');
      const isSaid = node.gaps.includes('orphanResult');
      if (isModels && !isSaid && node.requester === undefined) node.gaps.push('absentReplies');
    }
  }

  nodes(): Node[] {
    const all: Node[] = [];
    for (const node of this.#nodes) {
      for (const created of this.#before.get(node) ?? []) all.push(created);
      all.push(node);
      for (const created of this.#created.get(node) ?? []) all.push(created);
    }
    for (const created of this.#created.get(undefined) ?? []) all.push(created);
    return all;
  }

  #ask(call: Call, from: Node | undefined, index: number, isPast = false): Node<DraftTool> {
    const known = this.#known(call, from);
    const node = known ?? this.#recorded(call) ?? this.#create(call, from, isPast);
    const { draft } = node;
    if (call.id !== undefined) {
      draft.callId ??= call.id;
      if (known === undefined) this.#remember(call.id, node);
    } else {
      this.#asked.set(call.name, (this.#asked.get(call.name) ?? 0) + 1);
      this.#inOrder.list.push(node);
      queueOf(this.#unanswered, call.name).list.push(node);
    }
    if (draft.args === undefined && call.args !== undefined) {
      draft.args = call.args;
      delete draft.argsRaw;
    } else if (draft.args === undefined && call.argsRaw !== undefined)
      draft.argsRaw ??= call.argsRaw;
    else if (isUnwrapped(draft.args, call.args)) draft.args = call.args;
    if (call.by !== undefined) draft.by ??= call.by;
    if (call.actor !== undefined) draft.actor ??= call.actor;
    if (call.server !== undefined) draft.server ??= call.server;
    if (call.rawName !== undefined) draft.rawName ??= call.rawName;
    // Rules against tools look at both names.
    if (call.name !== draft.name) draft.rawName ??= call.name;
    draft.evidence = withMessage(draft.evidence);
    if (from?.draft.kind === 'llm' && !isPast) node.requester ??= from;
    node.callIndex ??= index;
    return node;
  }

  /**
   * The call behind an id: the recorded one, or one that a reply requested with the same arguments.
   * A later reply in one list of messages makes a new request, whatever its ids.
   */
  #known(call: Call, from: Node | undefined): Node<DraftTool> | undefined {
    const same = call.id === undefined ? undefined : this.#byId.get(call.id);
    // Beyond this many calls with one id, it is not an id, and each is a separate call.
    if (same === undefined || same.length > MAX_SHARED) return undefined;
    const isAnew = from !== undefined && isLlm(from) && from.draft.inputIsDelta === true;
    const unasked = same.filter(({ callIndex }) => callIndex === undefined);
    return (
      unasked.find(({ draft }) => isNamed(draft, call)) ??
      unasked.find(({ draft }) => draft.rawName === undefined) ??
      same.find((node) => isEcho(node.draft, call) && !(isAnew && node.requester !== from))
    );
  }

  #remember(id: string, node: Node<DraftTool>): void {
    const same = this.#byId.get(id);
    if (same === undefined) this.#byId.set(id, [node]);
    else same.push(node);
  }

  /** The call a result with an id answers: of several, the nth result of a history is the nth call's. */
  #asking(id: string, seen: Map<string, number>, isDelta: boolean): Node<DraftTool> | undefined {
    const same = this.#byId.get(id);
    if (same === undefined || same.length === 1) return same?.[0];
    const counts = isDelta ? this.#answeredById : seen;
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return same[count] ?? same.at(-1)!;
  }

  /** The first recorded call of the name that this can be: two ids that differ are two calls. */
  #recorded(call: Call): Node<DraftTool> | undefined {
    const queue = this.#unasked.get(call.name);
    if (queue === undefined) return undefined;
    while (queue.at < queue.list.length && queue.list[queue.at]!.callIndex !== undefined)
      queue.at++;
    const first = queue.list[queue.at];
    if (first === undefined || (call.id !== undefined && first.draft.callId !== undefined))
      return undefined;
    // Calls of one reply reach their servers in any order, and a tap sees the model's arguments.
    if (first.draft.evidence?.includes('mcp') === true && !isSeen(first, call))
      return queue.list
        .slice(queue.at, queue.at + MAX_CONCURRENT)
        .find((node) => node.callIndex === undefined && isSeen(node, call));
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

  /** Matches a result without an id to the first unanswered call of its name. */
  #withId(name: string | undefined): Node<DraftTool> | undefined {
    if (name === undefined) return undefined;
    for (const node of this.#tools) {
      if (this.#isAnswered.has(node) || !isNamed(node.draft, { name })) continue;
      this.#isAnswered.add(node);
      return node;
    }
    return undefined;
  }

  #answer(node: Node<DraftTool>, turn: Turn): void {
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

  /** A result whose call was not recorded still tells that a tool ran, though maybe not which. */
  #createFrom(turn: Turn, at: Node | undefined, isPast: boolean): Node<DraftTool> {
    const node = this.#create({ name: turn.name ?? UNNAMED }, at, isPast);
    node.gaps.push('orphanResult');
    if (turn.callId !== undefined) {
      node.draft.callId = turn.callId;
      this.#remember(turn.callId, node);
    }
    return node;
  }

  #create(call: Pick<Call, 'name'>, from: Node | undefined, isPast: boolean): Node<DraftTool> {
    const agent = from === undefined ? undefined : (from.draft.agent ?? undefined);
    const parent = from?.draft.kind === 'llm' ? from.parent : from;
    const isBefore = isPast && from?.draft.kind === 'llm';
    const at = isBefore ? from.draft.t0 : (from?.draft.t1 ?? from?.draft.t0);
    const draft: DraftTool = {
      kind: 'tool',
      name: call.name,
      evidence: ['message'],
      agent,
      t0: at,
      timing: at === undefined ? undefined : ('estimated' as const),
    };
    const node = nodeOf(draft, parent) as Node<DraftTool>;
    if (isBefore && from.draft.isRequest === true && FORGED.test(call.name)) node.isDropped = true;
    if (from !== undefined) {
      Object.assign(node.above, from.above);
      if (from.draft.kind === 'agent') node.above.agent = from;
    }
    this.#tools.add(node);
    const lists = isBefore ? this.#before : this.#created;
    const list = lists.get(from);
    if (list === undefined) lists.set(from, [node]);
    else list.push(node);
    return node;
  }
}

const wordingOf = ({ name, args, argsRaw }: Call): string =>
  canonicalJson([name, args ?? argsRaw ?? null]);

/** Whether a call seen by a tap can be this one: same server, if both name it, and same values. */
const isSeen = ({ draft }: Node<DraftTool>, { args, server }: Call): boolean =>
  (server === undefined || draft.server === undefined || server === draft.server) &&
  !hasOtherValues(draft.args, args);

const isNamed = (draft: DraftTool, call: Pick<Call, 'name' | 'rawName'>): boolean =>
  draft.name === call.name || draft.rawName === (call.rawName ?? call.name);

const isOtherName = ({ draft }: Node<DraftTool>, name: string | undefined): boolean =>
  name !== undefined && !isNamed(draft, { name });

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

const withMessage = (evidence: DraftTool['evidence']): NonNullable<DraftTool['evidence']> => {
  if (evidence === undefined) return ['span', 'message'];
  if (evidence.includes('message')) return evidence;
  return [...evidence, 'message'];
};

function resultOfParts(turn: Turn): unknown {
  const texts = turn.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length > 0) return resultOf(texts.join('\n'));
  const data = turn.parts.flatMap((part) => (part.type === 'json' ? [part.data] : []));
  return data.length <= 1 ? data[0] : data;
}

import { textOf } from './answer.ts';
import type { DraftLlm, DraftTool } from './draft.ts';
import { hasOtherValues } from './same-call.ts';
import { isKept, isLlm, isTool, type Node, target } from './tree.ts';

/**
 * Folds duplicate records into one step: calls with one id, a tool span inside a span of the same
 * tool, an LLM call inside the record of the same call. An LLM record around several calls is their
 * sum and is dropped.
 */
export function foldDuplicates(nodes: readonly Node[]): void {
  foldCallIds(nodes);
  foldNestedTools(nodes);
  foldNestedLlms(nodes);
  foldResponses(nodes);
}

function foldCallIds(nodes: readonly Node[]): void {
  const byId = new Map<string, Node<DraftTool>[]>();
  for (const node of nodes) {
    if (!isTool(node) || node.draft.callId === undefined) continue;
    const known = byId.get(node.draft.callId);
    if (known === undefined) {
      byId.set(node.draft.callId, [node]);
      continue;
    }
    // An id that is given out again would make its list long: the first and the latest call are enough to look at.
    const first = [known.at(-1)!, known[0]!].find((one) => isOneCall(node, one));
    if (first === undefined) known.push(node);
    else foldTool(node, first);
  }
}

/** Same id and tool, unless the values differ: some servers restart their ids in every reply. */
const isOneCall = (node: Node<DraftTool>, other: Node<DraftTool>): boolean =>
  isInside(node, other)
    ? node.draft.name === other.draft.name || other.draft.rawName === undefined
    : node.draft.name === other.draft.name && !hasOtherValues(node.draft.args, other.draft.args);

/**
 * Folds nested records of one call, such as the client's and the server's. Two ids are two calls,
 * however similar.
 */
function foldNestedTools(nodes: readonly Node[]): void {
  for (const node of nodes) {
    if (!isTool(node) || !isKept(node) || node.above.tool === undefined) continue;
    const outer = target(node.above.tool);
    if (!isTool(outer) || outer.draft.name !== node.draft.name) continue;
    const isSameId =
      outer.draft.callId === undefined ||
      node.draft.callId === undefined ||
      outer.draft.callId === node.draft.callId;
    const isRecursive =
      node.draft.callId === undefined && hasOtherValues(node.draft.args, outer.draft.args);
    if (isSameId && !isRecursive && outer !== node) foldTool(node, outer);
  }
}

function isInside(node: Node, outer: Node): boolean {
  for (let above = node.above.tool; above !== undefined; above = above.above.tool)
    if (above === outer) return true;
  return false;
}

function foldTool(node: Node<DraftTool>, into: Node<DraftTool>): void {
  node.foldedInto = into;
  const { draft } = into;
  const evidence = [
    ...new Set([...(draft.evidence ?? ['span']), ...(node.draft.evidence ?? ['span'])]),
  ];
  const isWorse =
    node.draft.status === 'error' || draft.status === undefined || draft.status === 'unknown';
  const status = isWorse ? (node.draft.status ?? draft.status) : draft.status;
  // Parsed arguments are more useful than raw ones.
  const raw =
    draft.args === undefined && node.draft.args !== undefined ? { argsRaw: undefined } : {};
  // Rules against tools look at both names.
  if (node.draft.name !== draft.name) draft.rawName ??= node.draft.name;
  fill(draft, node.draft);
  Object.assign(draft, { evidence }, status === undefined ? {} : { status }, raw);
  if (draft.argsRaw === undefined) delete draft.argsRaw;
  widen(draft, node.draft);
}

/** Bottom-up, so that among generation, step and inference the innermost call counts. */
function foldNestedLlms(nodes: readonly Node[]): void {
  const inner = new Map<Node, Node<DraftLlm>[]>();
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i]!;
    if (!isLlm(node)) continue;
    const below = inner.get(node) ?? [];
    if (below.length === 1) foldLlm(below[0]!, node);
    else if (below.length > 1) node.isDropped = true;
    const { llm } = node.above;
    if (llm === undefined) continue;
    const own = node.isDropped ? below : [node];
    const siblings = inner.get(llm);
    if (siblings === undefined) inner.set(llm, own);
    else for (const one of own) siblings.push(one);
  }
}

/** A wrapper may count a part or a larger sum, so the inner call decides tokens and cost. */
function foldLlm(inner: Node<DraftLlm>, into: Node<DraftLlm>): void {
  inner.foldedInto = into;
  const { usage, cost } = inner.draft;
  if (usage !== undefined) into.draft.usage = usage;
  if (cost !== undefined) into.draft.cost = cost;
  fill(into.draft, inner.draft);
  widen(into.draft, inner.draft);
}

/** Folds sibling records of one reply, such as a proxy's and an instrumentation's. */
function foldResponses(nodes: readonly Node[]): void {
  const byId = new Map<string, Node<DraftLlm>>();
  for (const node of nodes) {
    if (!isLlm(node) || !isKept(node) || node.draft.responseId === undefined) continue;
    const first = byId.get(node.draft.responseId);
    if (first === undefined) byId.set(node.draft.responseId, node);
    else if (node.draft.isRequest === true && first.draft.isRequest === true) continue;
    else if (isOneReply(node.draft, first.draft)) {
      node.foldedInto = first;
      // The longer input mentions more earlier calls.
      if ((node.draft.input?.length ?? 0) > (first.draft.input?.length ?? 0))
        first.draft.input = node.draft.input!;
      fill(first.draft, node.draft);
      widen(first.draft, node.draft);
    }
  }
}

/**
 * Some servers give every reply the same id, so replies that differ or do not overlap in time are
 * two.
 */
function isOneReply(a: DraftLlm, b: DraftLlm): boolean {
  const isApart = (one: DraftLlm, other: DraftLlm): boolean =>
    one.t1 !== undefined && other.t0 !== undefined && one.t1 <= other.t0 && one.t0 !== other.t0;
  const said = ({ output }: DraftLlm): string | undefined =>
    output === undefined
      ? undefined
      : JSON.stringify([textOf(output), output.calls?.map(({ name, args }) => [name, args])]);
  const [one, other] = [said(a), said(b)];
  return (
    !isApart(a, b) && !isApart(b, a) && (one === undefined || other === undefined || one === other)
  );
}

/** Fills in missing fields from the other record. */
function fill(draft: object, other: object): void {
  for (const [key, value] of Object.entries(other)) {
    if (key === 'key' || key === 'parent' || value === undefined) continue;
    const fields = draft as Record<string, unknown>;
    if (fields[key] === undefined) fields[key] = value;
  }
}

function widen(draft: { t0?: number; t1?: number }, other: { t0?: number; t1?: number }): void {
  if (draft.t0 !== undefined && other.t0 !== undefined) draft.t0 = Math.min(draft.t0, other.t0);
  if (draft.t1 !== undefined && other.t1 !== undefined) draft.t1 = Math.max(draft.t1, other.t1);
}

import type { DraftAgent, DraftHandoff, DraftLlm, DraftStep, DraftTool, Gap } from './draft.ts';

type Mutable<T> = T extends DraftStep ? { -readonly [K in keyof T]: T[K] } : never;

/** A draft step in the builder: its position in the tree, and what became of it. */
export interface Node<D extends DraftStep = DraftStep> {
  /** A mutable copy. */
  readonly draft: Mutable<D>;
  parent: Node | undefined;
  /** The nearest step above of each kind, itself not counted. */
  readonly above: { agent: Node | undefined; tool: Node | undefined; llm: Node | undefined };
  /** The step that this one duplicates. */
  foldedInto: Node | undefined;
  /** A framework span, or a sum of its parts, which gives no step. */
  isDropped: boolean;
  /** The LLM step that asked for this call, and the position of the call in its message. */
  requester: Node | undefined;
  callIndex: number | undefined;
  /** The first later request that repeats this call or brings its result. */
  repeatedIn: Node | undefined;
  /** Gaps found here. */
  readonly gaps: Gap[];
}

export const isLlm = (node: Node): node is Node<DraftLlm> => node.draft.kind === 'llm';
export const isTool = (node: Node): node is Node<DraftTool> => node.draft.kind === 'tool';
export const isAgent = (node: Node): node is Node<DraftAgent> => node.draft.kind === 'agent';
export const isHandoff = (node: Node): node is Node<DraftHandoff> => node.draft.kind === 'handoff';

/** Whether it becomes a step of the trace. */
export const isKept = (node: Node): boolean => !node.isDropped && node.foldedInto === undefined;

export const nodeOf = (draft: DraftStep, parent: Node | undefined): Node => ({
  draft: { ...draft } as Node['draft'],
  parent,
  above: { agent: undefined, tool: undefined, llm: undefined },
  foldedInto: undefined,
  isDropped: draft.kind === 'span',
  requester: undefined,
  callIndex: undefined,
  repeatedIn: undefined,
  gaps: [],
});

/**
 * Links steps to a tree, parents first, siblings in recorded order. A missing parent makes a step a
 * root, and cycles are broken.
 */
export function linkSteps(drafts: readonly DraftStep[]): Node[] {
  const nodes = drafts.map((draft) => nodeOf(draft, undefined));
  const byKey = new Map<string, Node>();
  for (const node of nodes) {
    const { key } = node.draft;
    if (key !== undefined && !byKey.has(key)) byKey.set(key, node);
  }
  const children = new Map<Node, Node[]>();
  for (const node of nodes) {
    const { parent } = node.draft;
    const above = parent === undefined ? undefined : byKey.get(parent);
    if (above === undefined || above === node) continue;
    node.parent = above;
    const siblings = children.get(above);
    if (siblings === undefined) children.set(above, [node]);
    else siblings.push(node);
  }
  const ordered: Node[] = [];
  const seen = new Set<Node>();
  const visit = (root: Node): void => {
    const open = [root];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (seen.has(node)) continue;
      seen.add(node);
      setAbove(node);
      ordered.push(node);
      const below = children.get(node) ?? [];
      for (let i = below.length - 1; i >= 0; i--) open.push(below[i]!);
    }
  };
  for (const node of nodes) if (node.parent === undefined) visit(node);
  for (const node of nodes) {
    if (seen.has(node)) continue;
    node.parent = undefined;
    visit(node);
  }
  return ordered;
}

function setAbove(node: Node): void {
  const { parent } = node;
  if (parent === undefined) return;
  Object.assign(node.above, parent.above);
  if (parent.draft.kind === 'agent') node.above.agent = parent;
  else if (parent.draft.kind === 'tool') node.above.tool = parent;
  else if (parent.draft.kind === 'llm') node.above.llm = parent;
}

/** The final step of a node: itself, or the one it was folded into. */
export function target(node: Node): Node {
  let current = node;
  while (current.foldedInto !== undefined) current = current.foldedInto;
  return current;
}

/** The nearest step above that is part of the trace. */
export function keptParent(node: Node): Node | undefined {
  for (let above = node.parent; above !== undefined; above = above.parent) {
    const found = target(above);
    if (found !== node && isKept(found)) return found;
  }
  return undefined;
}

import type { ASTNode } from '@marcbachmann/cel-js';

const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** The parts of an expression, outer ones first. */
export function* nodesIn(node: ASTNode): Iterable<ASTNode> {
  yield node;
  for (const child of childrenOf(node.args)) yield* nodesIn(child);
}

function childrenOf(args: unknown): ASTNode[] {
  if (isNode(args)) return [args];
  return Array.isArray(args) ? args.flatMap(childrenOf) : [];
}

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' &&
  value !== null &&
  'op' in value &&
  'args' in value &&
  'range' in value;

/** Depth of loops that multiply: nested ones, and those over the result of another. */
export function loopDepth(node: ASTNode): number {
  const inside = Math.max(0, ...childrenOf(node.args).map(loopDepth));
  return inside + (node.op === 'rcall' && MACROS.has(node.args[0]) ? 1 : 0);
}

/**
 * Fields an expression reads: a variable by its name, with the field if one is read (`call.error`),
 * and a field of anything else with a leading dot (`.error`).
 */
export function pathsIn(node: ASTNode): Set<string> {
  const paths = new Set<string>();
  const visit = (each: ASTNode): void => {
    if (each.op === 'id') paths.add(each.args as string);
    if (each.op !== '.') {
      for (const child of childrenOf(each.args)) visit(child);
      return;
    }
    const [of, field] = each.args as [ASTNode, string];
    if (of.op === 'id') paths.add(`${of.args as string}.${field}`);
    else {
      paths.add(`.${field}`);
      visit(of);
    }
  };
  visit(node);
  return paths;
}

/** Patterns written as text, with their offsets. */
export function patternsIn(root: ASTNode): { readonly pattern: string; readonly offset: number }[] {
  const found: { pattern: string; offset: number }[] = [];
  for (const node of nodesIn(root)) {
    if (node.op !== 'rcall' || node.args[0] !== 'matches') continue;
    const [first] = node.args[2];
    if (first?.op === 'value' && typeof first.args === 'string')
      found.push({ pattern: first.args, offset: first.range.start });
  }
  return found;
}

/**
 * The text with our names for library functions, at the same offsets, because the library does not
 * allow replacing its own.
 */
export function withOwnFunctions(
  text: string,
  root: ASTNode,
  names: Readonly<Record<string, string>>,
): string {
  const characters = text.split('');
  for (const node of nodesIn(root)) {
    if (node.op !== 'rcall' && node.op !== 'call') continue;
    const before = node.args[0];
    if (!Object.hasOwn(names, before)) continue;
    const at = text.indexOf(
      before,
      node.op === 'rcall' ? node.args[1].range.end : node.range.start,
    );
    characters.splice(at, before.length, ...names[before]!);
  }
  return characters.join('');
}

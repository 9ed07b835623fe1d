import type { ASTNode } from '@marcbachmann/cel-js';
import { didYouMean } from '../text/did-you-mean.ts';
import type { CelProblem, CelRecord, CelVariables } from './expression.ts';

/** Known types of the names in scope. Undefined if any field is possible. */
type Scope = ReadonlyMap<string, CelRecord | undefined>;

const LOOPS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/**
 * The first field that its variable does not have. Without this check, `has()` would just return
 * false.
 */
export function unknownField(root: ASTNode, variables: CelVariables): CelProblem | undefined {
  const known = Object.entries(variables).map(([name, type]) => [name, recordOf(type)] as const);
  return inNode(root, new Map(known));
}

const recordOf = (type: CelVariables[string]): CelRecord | undefined =>
  typeof type === 'string' ? undefined : type;

function inNode(node: ASTNode, scope: Scope): CelProblem | undefined {
  switch (node.op) {
    case '.':
    case '.?': {
      const [of, field] = node.args as [ASTNode, string];
      return inNode(of, scope) ?? missing(shapeOf(of, scope), field, node.range.end - field.length);
    }
    case '[]': {
      const [of, index] = node.args as [ASTNode, ASTNode];
      const field = index.op === 'value' && typeof index.args === 'string' ? index.args : undefined;
      const found = inNode(of, scope) ?? inNode(index, scope);
      return (
        found ??
        (field === undefined ? undefined : missing(shapeOf(of, scope), field, index.range.start))
      );
    }
    case 'rcall':
      return inCall(node.args as [string, ASTNode, ASTNode[]], scope);
    default:
      return inAll(nodesOf(node.args), scope);
  }
}

/** In a loop the variable is an item of the list, and `cel.bind` names its value. */
function inCall(
  [name, of, args]: [string, ASTNode, ASTNode[]],
  scope: Scope,
): CelProblem | undefined {
  const found = inNode(of, scope);
  const [variable, ...rest] = args;
  if (found !== undefined || variable?.op !== 'id') return found ?? inAll(args, scope);
  if (LOOPS.has(name)) {
    const shape = shapeOf(of, scope);
    const item = shape !== undefined && 'items' in shape ? { fields: shape.items } : undefined;
    return inAll(rest, new Map([...scope, [variable.args as string, item]]));
  }
  if (name !== 'bind') return inAll(args, scope);
  const [value, ...bodies] = rest;
  const shape = value === undefined ? undefined : shapeOf(value, scope);
  return (
    inAll(rest.slice(0, 1), scope) ??
    inAll(bodies, new Map([...scope, [variable.args as string, shape]]))
  );
}

function inAll(nodes: readonly ASTNode[], scope: Scope): CelProblem | undefined {
  for (const node of nodes) {
    const found = inNode(node, scope);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shapeOf(node: ASTNode, scope: Scope): CelRecord | undefined {
  if (node.op === 'id') return scope.get(node.args as string);
  if (node.op === 'rcall')
    return node.args[0] === 'filter' ? shapeOf(node.args[1], scope) : undefined;
  if (node.op === '.') {
    const [of, field] = node.args as [ASTNode, string];
    const record = shapeOf(of, scope);
    const items = record !== undefined && 'fields' in record ? record.lists?.[field] : undefined;
    return items === undefined ? undefined : { items };
  }
  if (node.op !== '[]') return undefined;
  const shape = shapeOf((node.args as [ASTNode, ASTNode])[0], scope);
  return shape !== undefined && 'items' in shape ? { fields: shape.items } : undefined;
}

function missing(
  shape: CelRecord | undefined,
  field: string,
  offset: number,
): CelProblem | undefined {
  if (shape === undefined || !('fields' in shape) || shape.fields.includes(field)) return undefined;
  const near = didYouMean(field, shape.fields);
  const way =
    near === undefined ? `there are ${shape.fields.join(', ')}` : `did you mean "${near}"?`;
  return { message: `unknown field "${field}": ${way}`, offset };
}

function nodesOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesOf);
  return typeof args === 'object' && args !== null && 'op' in args && 'range' in args
    ? [args as ASTNode]
    : [];
}

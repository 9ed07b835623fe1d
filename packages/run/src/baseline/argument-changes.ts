import { isObject } from '@agentci/lib/data';
import type { ArgumentChange } from '@agentci/results';
import type { ToolStep } from '@agentci/trace';
import type { PlacedEdit } from './align.ts';

const MAX_CHANGES = 200;
const MAX_DEPTH = 16;

/**
 * Changed arguments of the calls that both sides made. Skips calls whose arguments one side did not
 * capture.
 */
export function argumentChanges(
  edits: readonly PlacedEdit[],
  before: readonly ToolStep[],
  after: readonly ToolStep[],
): ArgumentChange[] {
  const changes: ArgumentChange[] = [];
  for (const { op, before: i, after: j } of edits) {
    if (op !== 'keep' || i === undefined || j === undefined) continue;
    const a = before[i]!;
    const b = after[j]!;
    if (a.args === undefined || b.args === undefined) continue;
    for (const change of valueChanges(a.args, b.args, '', 0)) {
      if (changes.length >= MAX_CHANGES) return changes;
      changes.push({ tool: a.name, before_call: i + 1, after_call: j + 1, ...change });
    }
  }
  return changes;
}

type ValueChange = Pick<ArgumentChange, 'path' | 'before' | 'after'>;

function* valueChanges(
  a: unknown,
  b: unknown,
  path: string,
  depth: number,
): Generator<ValueChange> {
  if (a === b) return;
  if (depth < MAX_DEPTH && isObject(a) && isObject(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
    for (const key of keys) {
      const inner = path === '' ? key : `${path}.${key}`;
      if (!Object.hasOwn(a, key)) yield { path: inner, after: b[key] };
      else if (!Object.hasOwn(b, key)) yield { path: inner, before: a[key] };
      else yield* valueChanges(a[key], b[key], inner, depth + 1);
    }
    return;
  }
  if (depth < MAX_DEPTH && Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < Math.max(a.length, b.length); i++) {
      const inner = `${path}[${i}]`;
      if (i >= a.length) yield { path: inner, after: b[i] };
      else if (i >= b.length) yield { path: inner, before: a[i] };
      else yield* valueChanges(a[i], b[i], inner, depth + 1);
    }
    return;
  }
  if (depth >= MAX_DEPTH && JSON.stringify(a) === JSON.stringify(b)) return;
  yield { path, before: a, after: b };
}

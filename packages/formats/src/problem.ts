import { isFields } from '@agentci/trace';
import type { AdapterItem, RawRecord, TraceProblem } from './adapter.ts';

/** A problem with a record that was parsed, carrying its place and whose record it is. */
export function problemWith(
  record: RawRecord,
  what: { readonly code: string; readonly message: string },
): AdapterItem {
  return {
    ok: false,
    problem: {
      code: what.code,
      message: what.message,
      file: record.file,
      line: record.line,
      ...ownerOf(record.value),
    },
  };
}

/** The readable id and query text of a record. */
export function ownerOf(value: unknown): Pick<TraceProblem, 'id' | 'query'> {
  if (!isFields(value)) return {};
  const { id, query } = value;
  const task = isFields(value.task) ? value.task : {};
  const owner: { id?: string; query?: string } = {};
  if (typeof task.id === 'string') owner.id = task.id;
  else if (typeof id === 'string') owner.id = id;
  else if (typeof id === 'number') owner.id = String(id);
  if (typeof query === 'string') owner.query = query;
  return owner;
}

const FIELD = /"(id|query)"\s{0,20}:\s{0,20}("(?:[^"\\]|\\.){0,2000}")/g;

/** The same for a text that is not JSON: the first `"id"` and `"query"` that can still be made out. */
export function ownerOfText(text: string): Pick<TraceProblem, 'id' | 'query'> {
  const owner: { id?: string; query?: string } = {};
  for (const match of text.matchAll(FIELD)) {
    const key = match[1] === 'id' ? 'id' : 'query';
    if (owner[key] !== undefined) continue;
    try {
      const value: unknown = JSON.parse(match[2]!);
      if (typeof value === 'string') owner[key] = value;
    } catch {
      // A broken escape: this field tells nothing.
    }
  }
  return owner;
}

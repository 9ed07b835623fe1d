import type { QueryResult } from './run-result.ts';

const written = new WeakMap<QueryResult, string>();

/** A result as JSON, made once: the journal and the report hold the same text. */
export function resultJson(result: QueryResult): string {
  let text = written.get(result);
  if (text === undefined) {
    text = JSON.stringify(result);
    written.set(result, text);
  }
  return text;
}

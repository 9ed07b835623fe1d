import type { CodeLens } from 'vscode-languageserver/node';
import type { Suite } from '../spec/suite.ts';

/** The name of the command that a client runs; what to run is its argument. */
export const RUN_COMMAND = 'agentci.test';
const MAX_IDS = 100;

/** "Run this query" above each query. The server runs nothing: the client does, with the program and arguments it is given. */
export function lensesOf(suite: Suite, file: string): CodeLens[] {
  const byLine = new Map<number, Set<string>>();
  for (const { id, location } of suite.queries) {
    if (location === undefined || location.file !== file) continue;
    const ids = byLine.get(location.line) ?? new Set();
    byLine.set(location.line, ids.add(id));
  }
  return [...byLine].map(([line, ids]) => {
    const [shown, all] = [[...ids].slice(0, MAX_IDS), ids.size];
    const title =
      all === 1 ? 'Run this query' : `Run ${shown.length === all ? 'these' : 'the first'} ${shown.length} queries`;
    const args = ['agentci', 'test', '-c', file, '--ids', shown.join(',')];
    const start = { line: line - 1, character: 0 };
    return { range: { start, end: start }, command: { title, command: RUN_COMMAND, arguments: args } };
  });
}

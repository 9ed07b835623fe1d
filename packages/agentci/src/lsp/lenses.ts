import type { CodeLens } from 'vscode-languageserver/node';
import { parseYaml } from '../kit/yaml.ts';
import { locate, nodeAt } from '../kit/yaml-node.ts';
import { INCLUDE_TAG } from '../spec/include.ts';
import { slugOf } from '../spec/query-id.ts';
import type { Query } from '../spec/suite.ts';

/** The name of the command that a client runs; what to run is its argument. */
export const RUN_COMMAND = 'agentci.test';
const MAX_IDS = 100;

/** "Run this query" above each query. The server runs nothing: the client does, with the program and arguments it is given. */
export function lensesOf(queries: readonly Pick<Query, 'id' | 'location'>[], file: string): CodeLens[] {
  const byLine = new Map<number, Set<string>>();
  for (const { id, location } of queries) {
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

/** The queries of a text with mistakes in it: those that have an id, where the text is YAML at all. */
export function queriesIn(file: string, text: string): Pick<Query, 'id' | 'location'>[] | undefined {
  const { root } = parseYaml(text, { file, tags: [INCLUDE_TAG] });
  const list = root === undefined ? undefined : nodeAt(root, ['queries']);
  if (list?.kind !== 'seq') return undefined;
  return list.items.flatMap((item) => {
    const id = nodeAt(item, ['id']);
    // Rows make several queries of one, with ids of their own.
    if (id?.kind !== 'scalar' || typeof id.value !== 'string' || nodeAt(item, ['rows']) !== undefined) return [];
    return [{ id: slugOf(id.value), location: locate(item.source, item.start) }];
  });
}

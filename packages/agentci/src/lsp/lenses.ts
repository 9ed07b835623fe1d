import { locate, nodeAt, parseYaml, toPlain, type YamlNode } from '@agentci/lib/yaml';
import type { Query } from '@agentci/spec';
import { INCLUDE_TAG, parseSpec, slugOf } from '@agentci/spec';
import type { CodeLens } from 'vscode-languageserver/node';

/** Name of the command that a client runs. Its argument says what to run. */
export const RUN_COMMAND = 'agentci.test';
const MAX_IDS = 100;

/**
 * "Run this query" above each query. The server runs nothing. The client runs the given program and
 * arguments.
 */
export function lensesOf(
  queries: readonly Pick<Query, 'id' | 'location'>[],
  file: string,
): CodeLens[] {
  const byLine = new Map<number, Set<string>>();
  for (const { id, location } of queries) {
    if (location === undefined || location.file !== file) continue;
    const ids = byLine.get(location.line) ?? new Set();
    byLine.set(location.line, ids.add(id));
  }
  return [...byLine].map(([line, ids]) => {
    const [shown, all] = [[...ids].slice(0, MAX_IDS), ids.size];
    const title =
      all === 1
        ? 'Run this query'
        : `Run ${shown.length === all ? 'these' : 'the first'} ${shown.length} queries`;
    const args = ['agentci', 'test', '-c', file, '--ids', shown.join(',')];
    const start = { line: line - 1, character: 0 };
    return {
      range: { start, end: start },
      command: { title, command: RUN_COMMAND, arguments: args },
    };
  });
}

type Placed = Pick<Query, 'id' | 'location'>;

/** Keys that determine the id of a query. */
const NAMING = ['id', 'query', 'rows', 'vars', 'conversation'];
/** A query needs a check that can fail. */
const SOME_CHECK = { max_tool_calls: 1 };

/**
 * The queries of a text with mistakes, if it is valid YAML. Reads the spec without all keys that do
 * not name queries, then drops queries that are still invalid. Of those, an explicit id is used.
 */
export function queriesIn(file: string, text: string): Placed[] | undefined {
  const { root } = parseYaml(text, { file, tags: [INCLUDE_TAG] });
  const list = root === undefined ? undefined : nodeAt(root, ['queries']);
  if (root === undefined || list?.kind !== 'seq') return undefined;
  const head = headOf(root);
  let items: readonly YamlNode[] = list.items.filter(({ kind }) => kind === 'map');
  const wrong: YamlNode[] = [];
  for (let tries = 0; tries < 2; tries++) {
    const { suite, diagnostics } = parseSpec(skeletonOf(head, items), { file });
    if (suite !== undefined) {
      const placed = suite.queries.map(({ id, location }) => ({
        id,
        ...placeOf(items[(location?.line ?? 0) - FIRST_LINE]),
      }));
      return [...placed, ...wrong.flatMap(byWrittenId)];
    }
    const lines = new Set(
      diagnostics.filter(({ severity }) => severity === 'error').map(({ line }) => line),
    );
    const isWrong = (i: number): boolean => lines.has(i + FIRST_LINE);
    wrong.push(...items.filter((_, i) => isWrong(i)));
    items = items.filter((_, i) => !isWrong(i));
  }
  return list.items.flatMap(byWrittenId);
}

const placeOf = (item: YamlNode | undefined): Pick<Query, 'location'> =>
  item === undefined ? {} : { location: locate(item.source, item.start) };

/** Rows expand one query into several with different ids. */
function byWrittenId(item: YamlNode): Placed[] {
  const id = nodeAt(item, ['id']);
  if (id?.kind !== 'scalar' || typeof id.value !== 'string' || nodeAt(item, ['rows']) !== undefined)
    return [];
  return [{ id: slugOf(id.value), ...placeOf(item) }];
}

/** Variables shared by all queries. */
function headOf(root: YamlNode): Record<string, unknown> {
  const [vars, matrix, ofDefaults] = [['vars'], ['matrix'], ['defaults', 'vars']].map((path) => {
    const node = nodeAt(root, path);
    return node === undefined ? undefined : toPlain(node);
  });
  return {
    vars,
    matrix,
    defaults: ofDefaults === undefined ? undefined : { vars: ofDefaults },
  };
}

/** Line of the first query. Each query takes one line. */
const FIRST_LINE = 3;

function skeletonOf(head: Record<string, unknown>, items: readonly YamlNode[]): string {
  const lines = items.map((item) => {
    const named = NAMING.flatMap((key) => {
      const node = nodeAt(item, [key]);
      return node === undefined ? [] : [[key, toPlain(node)]];
    });
    return JSON.stringify({ ...Object.fromEntries(named), path: SOME_CHECK });
  });
  const start = JSON.stringify({ version: 1, agent: 'a', ...head }).slice(0, -1);
  return `${start},\n"queries": [\n${lines.join(',\n')}\n]}\n`;
}

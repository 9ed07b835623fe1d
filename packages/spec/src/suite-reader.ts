import { dirname } from 'node:path';
import type { CassetteConfig } from '@agentci/capture';
import { canonicalJson, sha256Hex } from '@agentci/lib/data';
import { showValue } from '@agentci/lib/values';
import {
  keyPlace,
  locate,
  setOwn,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlPlace,
} from '@agentci/lib/yaml';
import { mergeMaps } from './defaults.ts';
import { type SpecFiles, SpecFolder } from './files.ts';
import { ROOT_KEY_NAMES, ROOT_KEYS, unknownKeyHint } from './keys.ts';
import { readBaselineCell, readMatrix } from './matrix.ts';
import { PolicyLoader } from './policy-loader.ts';
import type { SpecProblems } from './problems.ts';
import { IdAllocator, queryId } from './query-id.ts';
import { type IdBase, QueryReader, type ReadQuery } from './query-reader.ts';
import {
  checkConversationRunner,
  checkRunnerVariables,
  PromptFiles,
  readRunner,
  runnerVariables,
} from './runner.ts';
import type { RunnerConfig } from './runner-config.ts';
import { ScopedReader, type SuiteScope } from './scoped-reader.ts';
import type { Query, Suite } from './suite.ts';
import { checkValue, emptyKey, isBroken, isNull } from './value-check.ts';

const DEFAULT_BASELINE_DIR = './baselines';

/** Root keys that do not affect the tests, or whose content is in the queries. */
const NOT_HASHED = new Set([
  '$schema',
  'version',
  'defaults',
  'metrics',
  'policy',
  'queries',
  'cassette',
]);

/** Builds a suite from the tree of a spec. Undefined after any error, which is in `problems`. */
export function readSuite(
  root: YamlMap,
  problems: SpecProblems,
  files: SpecFiles,
): Suite | undefined {
  const plain = readRootKeys(root, problems);
  checkVersion(root.entries.get('version'), problems);
  const runnerEntry = root.entries.get('runner');
  const runner = runnerEntry === undefined ? undefined : readRunner(runnerEntry, problems, files);
  if (runnerEntry !== undefined) plain.runner = toPlain(runnerEntry.value);

  checkCassette(root.entries.get('cassette'), runner, problems);
  const cells = readMatrix(root, problems);
  const baselineCell = readBaselineCell(root, cells, problems);
  const runnerNames = runnerVariables(runnerEntry);
  const prompts = new PromptFiles(runner, runnerEntry, files);
  const folder = SpecFolder.of(root.source.file, files);
  const read = readQueries(root, problems, {
    folder,
    vars: plain.vars as Readonly<Record<string, unknown>> | undefined,
    cells,
    runnerNames: new Set([...runnerNames.keys(), ...prompts.names(cells)]),
  });
  const queries = withIds(read, problems);
  checkRunnerVariables(runnerNames, queries, problems);
  prompts.check(queries, problems);
  checkConversationRunner(runnerEntry, runner, queries, problems);
  if (problems.hasErrors) return undefined;

  // Kept only until the hash is requested, because it holds the text of a large spec and all its
  // values.
  let toHash: Parameters<typeof hashOf> | undefined = [
    plain,
    read.filter((each) => each.plain !== undefined),
  ];
  let hash: string | undefined;
  const { file } = root.source;
  const judgeConfig = plain.judge_config as Record<string, unknown> | undefined;
  return {
    version: 1,
    agent: plain.agent as string,
    file,
    dir: dirname(file),
    // Hashing a large spec is slow, and not every command needs it.
    get hash() {
      if (toHash !== undefined) hash = hashOf(...toHash);
      toHash = undefined;
      return hash!;
    },
    baselineDir: (plain.baseline_dir as string | undefined) ?? DEFAULT_BASELINE_DIR,
    baseline: plain.baseline as string | undefined,
    runner,
    cassette: plain.cassette as CassetteConfig | undefined,
    use: (plain.use as string[] | undefined) ?? [],
    judgeConfig: judgeConfig && { temperature: 0, ...judgeConfig },
    queries,
    cells,
    baselineCell,
  };
}

function readRootKeys(root: YamlMap, problems: SpecProblems): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  const schemas = new Map(Object.entries(ROOT_KEYS));
  for (const [key, entry] of root.entries) {
    const schema = schemas.get(key);
    if (schema !== undefined) {
      if (checkValue(entry, schema, problems)) setOwn(plain, key, toPlain(entry.value));
    } else if (!ROOT_KEY_NAMES.includes(key)) {
      problems.add(keyPlace(entry), {
        code: 'SPEC_UNKNOWN_KEY',
        message: `the spec has no key "${key}"`,
        hint: unknownKeyHint(key, ROOT_KEY_NAMES),
      });
    }
  }
  for (const key of ['agent', 'queries'])
    if (!root.entries.has(key))
      problems.add(root, { code: 'SPEC_REQUIRED', message: `the spec needs "${key}"` });
  return plain;
}

/**
 * The hash of the canonical JSON, computed query by query, because the whole text of a large spec
 * would be tens of megabytes.
 */
function hashOf(root: Readonly<Record<string, unknown>>, read: readonly ReadQuery[]): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  const keys = Object.keys(root).filter((key) => !NOT_HASHED.has(key));
  for (const [i, key] of [...keys, 'queries'].sort().entries()) {
    hash.update(`${i === 0 ? '{' : ','}${JSON.stringify(key)}:`);
    if (key !== 'queries') hash.update(canonicalJson(root[key]));
    else
      for (const [at, query] of read.flatMap(hashed).entries())
        hash.update(`${at === 0 ? '[' : ','}${canonicalJson(query)}`);
    if (key === 'queries') hash.update(']');
  }
  return `sha256:${hash.update('}').digest('hex')}`;
}

/** A policy in a separate file is part of the hash, like the spec. */
function hashed({ plain, queries }: ReadQuery): Readonly<Record<string, unknown>>[] {
  if (plain === undefined) return [];
  const sources = (queries[0]?.policies ?? []).flatMap((policy) => policy.sources);
  return [sources.length === 0 ? plain : { ...plain, policy_sources: sources.map(sha256Hex) }];
}

/** A separately started agent cannot be redirected to a cassette. */
function checkCassette(
  entry: YamlEntry | undefined,
  runner: RunnerConfig | undefined,
  problems: SpecProblems,
): void {
  if (entry === undefined || isNull(entry.value) || runner === undefined) return;
  if (runner.kind === 'command' || runner.kind === 'module') return;
  problems.add(keyPlace(entry), {
    code: 'SPEC_VALUE',
    message: `"cassette" needs an agent that is started here, and the runner is "${runner.kind}"`,
    hint: 'use a "command" or "module" runner, or remove "cassette"',
  });
}

function checkVersion(entry: YamlEntry | undefined, problems: SpecProblems): void {
  if (entry === undefined || isBroken(entry.value)) return;
  if (isNull(entry.value)) {
    problems.add(keyPlace(entry), emptyKey('version'));
    return;
  }
  const version = toPlain(entry.value);
  if (version === 1) return;
  const isText = typeof version === 'string' && Number(version) === 1;
  problems.add(entry.value, {
    code: 'SPEC_VALUE',
    message: `"version" must be the number 1, not ${isText ? 'the text ' : ''}${showValue(version)}`,
    hint: isText
      ? 'remove the quotes'
      : 'write "version: 1", or update AgentCI if the file was made for a later one',
  });
}

function readQueries(
  root: YamlMap,
  problems: SpecProblems,
  scope: SuiteScope,
): readonly ReadQuery[] {
  const { file } = root.source;
  const defaults = effectiveDefaults(root, problems);
  const entry = root.entries.get('queries');
  const isScoped =
    ['vars', 'matrix'].some((key) => root.entries.has(key)) ||
    defaults?.entries.has('vars') === true;
  const reader = new QueryReader(defaults, problems, {
    folder: scope.folder,
    policies: new PolicyLoader(file, problems, scope.folder.files),
    hasUse: root.entries.has('use'),
    hasVariables: isScoped || (entry?.value.kind === 'seq' && entry.value.items.some(hasScope)),
  });
  if (entry === undefined || isBroken(entry.value)) return [];
  const { value } = entry;
  if (isNull(value)) problems.add(keyPlace(entry), emptyKey('queries'));
  else if (value.kind !== 'seq') {
    problems.add(value, {
      code: 'SPEC_VALUE',
      message: '"queries" must be a list',
      hint: 'start each query with a dash: "- query: …"',
    });
  } else if (value.items.length === 0) {
    problems.add(value, {
      code: 'SPEC_EMPTY',
      message: '"queries" is empty: nothing would be tested',
    });
  } else {
    const queries: ReadQuery[] = [];
    let scoped: ScopedReader | undefined;
    for (const item of value.items) {
      const node = reader.mapOf(item);
      if (node === undefined) continue;
      if (!isScoped && !hasScope(node)) {
        queries.push(reader.read(node));
        continue;
      }
      scoped ??= new ScopedReader(reader, problems, scope);
      for (const query of scoped.read(node)) queries.push(query);
    }
    scoped?.finish();
    reader.finish();
    return queries;
  }
  return [];
}

/** Whether a query has its own variables. */
const hasScope = (node: YamlNode): boolean =>
  node.kind === 'map' && (node.entries.has('rows') || node.entries.has('vars'));

/** `metrics` and `policy` of the root count as defaults. `defaults` overrides them. */
function effectiveDefaults(root: YamlMap, problems: SpecProblems): YamlMap | undefined {
  const shared = new Map(
    [...root.entries].filter(
      ([key, { value }]) => isInherited(key) && !isNull(value) && !isBroken(value),
    ),
  );
  const base: YamlMap = {
    kind: 'map',
    source: root.source,
    start: root.start,
    entries: shared,
  };
  const entry = root.entries.get('defaults');
  if (entry === undefined || isBroken(entry.value)) return shared.size === 0 ? undefined : base;
  if (entry.value.kind === 'map')
    return shared.size === 0 ? entry.value : mergeMaps(base, entry.value);
  if (isNull(entry.value)) problems.add(keyPlace(entry), emptyKey('defaults'));
  else problems.add(entry.value, { code: 'SPEC_VALUE', message: '"defaults" must be a map' });
  return base;
}

const isInherited = (key: string): boolean => key === 'metrics' || key === 'policy';

/** Assigns every query its id, and puts its cells next to each other. */
function withIds(read: readonly ReadQuery[], problems: SpecProblems): readonly Query[] {
  const written = new Map<string, YamlPlace | undefined>();
  for (const { queries, idPlace, named } of read) {
    const [query] = queries;
    if (query === undefined) continue;
    if (named?.row !== undefined && named.base.written !== undefined)
      query.id = `${named.base.written}-${named.row}`;
    const { id } = query;
    if (id === '' || idPlace === undefined) continue;
    const first = written.get(id);
    if (first !== undefined) {
      problems.add(idPlace, {
        code: 'SPEC_DUPLICATE',
        message: `the id "${id}" is used twice${first.source === idPlace.source ? '' : ` (first at ${placeText(first)})`}`,
        hint: 'baselines and reports are stored by id, so give each query its own',
      });
    } else written.set(id, idPlace);
  }
  const ids = new IdAllocator(written.keys());
  const bases = new Map<IdBase, string>();
  const all: Query[] = [];
  for (const { queries, named } of read) {
    const [first] = queries;
    if (first === undefined) continue;
    if (first.id === '') first.id = namedBy(named, first.query, ids, bases);
    for (const query of queries) {
      query.id = first.id;
      all.push(query);
    }
  }
  return all;
}

/** A row is named by its query and its number. */
function namedBy(
  named: ReadQuery['named'],
  text: string,
  ids: IdAllocator,
  bases: Map<IdBase, string>,
): string {
  if (named?.row === undefined) return ids.allocate(queryId(named?.base.text ?? text));
  const { base, row } = named;
  let name = bases.get(base);
  if (name === undefined) {
    name = queryId(base.text);
    bases.set(base, name);
  }
  return ids.allocate(`${name}-${row}`);
}

function placeText({ source, start }: YamlPlace): string {
  const { file, line, column } = locate(source, start);
  return `${file}:${line}:${column}`;
}

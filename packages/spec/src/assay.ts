import { basename, dirname, extname, resolve } from 'node:path';
import type { BlockValue, ConvertedCase, Finding, OverallTest } from '@agentci/convert';
import {
  exactValue,
  isAssaySuite,
  type LayerLayout,
  Literal,
  layOut,
  nodeOf,
  type Owned,
  readAssay,
} from '@agentci/convert';
import { canonicalJson, sha256Hex } from '@agentci/lib/data';
import { type ValueSchema, v } from '@agentci/lib/values';
import {
  keyPlace,
  locate,
  placeAt,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlPlace,
} from '@agentci/lib/yaml';
import type { Policy } from '@agentci/policy';
import { entryAt, filterProblem, mapAt, scalarAt } from '@agentci/policy';
import { type SpecFiles, SpecFolder } from './files.ts';
import { QUERY_KEYS, SHARED_KEYS } from './keys.ts';
import { PolicyLoader } from './policy-loader.ts';
import type { SpecProblems } from './problems.ts';
import { MAX_TIMEOUT_MS } from './runner-config.ts';
import type { PolicyTest, Query, Suite } from './suite.ts';
import { readSuite } from './suite-reader.ts';
import { checkValue, isBroken, isNull } from './value-check.ts';

const text = v.string().regex(/\S/);
const ROOT_SCHEMAS: Readonly<Record<string, ValueSchema>> = {
  version: v.union([v.literal('1'), v.literal(1)]),
  suite: text,
  description: v.string(),
  output: v.strictObject({
    format: v.union([text, v.array(text).min(1)]).optional(),
    directory: text.optional(),
  }),
};
/** Keys of a test over all recordings. No query checks their values. */
const TEST_SCHEMAS: Readonly<Record<string, ValueSchema>> = {
  id: QUERY_KEYS.id,
  metric: text,
  description: v.string(),
  tags: SHARED_KEYS.tags,
  tools: v.array(text).min(1),
  strict: v.boolean(),
  tool: text,
  export: text,
  timeout_ms: v.number().int().min(1).max(MAX_TIMEOUT_MS),
};
const DEFAULT_DIRECTORY = '.agentci/reports';

/** Whether a file is an Assay suite, which the same commands read. */
export const isAssayFile = (root: YamlMap): boolean =>
  root.entries.has('tests') && isAssaySuite(exactValue(root));

/**
 * Reads an Assay suite with the converter and makes a suite like that of a spec. Losses that the
 * converter would report are errors here.
 */
export function readAssayFile(
  root: YamlMap,
  problems: SpecProblems,
  files: SpecFiles,
): Suite | undefined {
  for (const [key, schema] of Object.entries(ROOT_SCHEMAS)) {
    const entry = root.entries.get(key);
    if (entry !== undefined) checkValue(entry, schema, problems);
  }
  const tests = testsOf(root, problems);
  const value = exactValue(root);
  const { cases, settings } = readAssay({ name: root.source.file, value, policy: (path) => path });
  for (const finding of settings) report(finding, root, problems);
  const hasExpected = tests.some(
    ({ entries }) =>
      !entries.has('metric') && (entries.has('expected') || entries.has('assertions')),
  );
  const read = hasExpected ? expectedSuite : overallSuite;
  const suite = read(root, { tests, cases, problems, files });
  if (suite === undefined || problems.hasErrors) return undefined;
  const { output } = toPlain(root) as {
    output?: { format?: string | string[]; directory?: string };
  };
  const format = output?.format;
  return {
    ...suite,
    sharesRecordings: true,
    output:
      format === undefined
        ? undefined
        : {
            formats: typeof format === 'string' ? [format] : format,
            directory: output?.directory ?? DEFAULT_DIRECTORY,
          },
  };
}

interface Tests {
  readonly tests: readonly YamlMap[];
  /** One for each test. */
  readonly cases: readonly ConvertedCase[];
  readonly problems: SpecProblems;
  readonly files: SpecFiles;
}

function testsOf(root: YamlMap, problems: SpecProblems): readonly YamlMap[] {
  const entry = root.entries.get('tests')!;
  const { value } = entry;
  if (isBroken(value)) return [];
  if (value.kind !== 'seq' || value.items.length === 0) {
    const isEmpty = value.kind === 'seq' || isNull(value);
    problems.add(isEmpty ? keyPlace(entry) : value, {
      code: isEmpty ? 'SPEC_EMPTY' : 'SPEC_VALUE',
      message: isEmpty ? '"tests" is empty: nothing would be tested' : '"tests" must be a list',
    });
    return [];
  }
  return value.items.map((item) => {
    if (item.kind === 'map') return item;
    if (!isBroken(item))
      problems.add(item, { code: 'SPEC_VALUE', message: 'each item of "tests" must be a map' });
    return mapAt(item, []);
  });
}

/** A loss is an error. An approximation is a warning. */
function report(finding: Finding, node: YamlNode, problems: SpecProblems): void {
  const { type, verdict, why = '', problem, at = node } = finding;
  if (verdict === 'close')
    problems.add(at, {
      severity: 'warning',
      code: 'SPEC_CLOSE',
      message: `"${type}" is judged a little differently here: ${why}`,
    });
  else if (verdict === 'none')
    problems.add(
      at,
      problem === undefined
        ? { code: 'SPEC_VALUE', message: `"${type}" is not read from an Assay suite`, hint: why }
        : { ...problem, message: why },
    );
}

/** Tests with `expected`: each is a query, matched to its recording by the prompt. */
function expectedSuite(root: YamlMap, { tests, cases, problems, files }: Tests): Suite | undefined {
  const queries = tests.flatMap((test, i): YamlMap[] => {
    const one = cases[i]!;
    const id = test.entries.get('id');
    const metric = test.entries.get('metric');
    if (metric !== undefined) {
      problems.add(keyPlace(metric), {
        code: 'SPEC_VALUE',
        message: 'tests with "metric" and tests with "expected" cannot be in one suite',
        hint: 'write two files',
      });
      return [];
    }
    if (id === undefined)
      problems.add(test, { code: 'SPEC_REQUIRED', message: 'a test needs "id"' });
    if (one.skip !== undefined)
      problems.add(test.entries.get('input')?.value ?? test, {
        code: 'SPEC_REQUIRED',
        message: 'a test needs "input" with "prompt"',
      });
    for (const { finding } of one.carried) report(finding, test, problems);
    if (one.carried.length === 0)
      problems.add(test, {
        code: 'SPEC_CANNOT_FAIL',
        message: 'a test without "expected" cannot fail',
        hint: 'add the expected values',
      });
    if (id === undefined || one.skip !== undefined) return [];
    const notes = ['description', 'tags'].flatMap((key) => test.entries.get(key) ?? []);
    const input = test.entries.get('input')!;
    const prompt = input.value.kind === 'map' ? input.value.entries.get('prompt')! : input;
    const { layers } = layOut(one, one.name, true);
    const policy =
      one.policy === undefined ? [] : [entryAt(anchor(test), 'policy', node(one.policy, test))];
    return [
      mapAt(test, [
        id,
        entryAt(prompt, 'query', prompt.value),
        ...notes,
        ...layers.map((layer) => layerEntry(layer, test)),
        ...policy,
      ]),
    ];
  });
  if (problems.hasErrors) return undefined;
  const suite = root.entries.get('suite');
  const at = root.entries.get('tests')!;
  const spec = mapAt(root, [
    entryAt(at, 'version', scalarAt(root, 1)),
    entryAt(suite ?? at, 'agent', suite?.value ?? scalarAt(root, 'suite')),
    entryAt(at, 'queries', listAt(at.value, queries)),
  ]);
  return readSuite(spec, problems, files);
}

const anchor = ({ source, start }: YamlPlace) => ({ keySource: source, keyStart: start });
const listAt = ({ source, start }: YamlPlace, items: readonly YamlNode[]): YamlNode => ({
  kind: 'seq',
  source,
  start,
  items,
});

/**
 * Turns a value of the converter into a node: the original one, or one at the place of its
 * expectation.
 */
function node(value: BlockValue, at: YamlPlace): YamlNode {
  const original = nodeOf(value);
  if (original !== undefined) return original;
  if (value instanceof Literal) return scalarAt(at, value.pattern);
  if (Array.isArray(value))
    return listAt(
      at,
      value.map((item: BlockValue) => node(item, at)),
    );
  if (typeof value !== 'object' || value === null)
    return scalarAt(at, value as string | number | boolean | null);
  return mapAt(
    at,
    Object.entries(value).map(([key, inner]) =>
      entryAt(anchor(at), key, node(inner as BlockValue, at)),
    ),
  );
}

function layerEntry({ layer, keys, lists, all, severity }: LayerLayout, test: YamlMap): YamlEntry {
  const at = ({ owner }: Owned<BlockValue>): YamlPlace => owner.finding.at ?? test;
  const one = (key: string, owned: Owned<BlockValue>): YamlEntry =>
    entryAt(anchor(at(owned)), key, node(owned.value, at(owned)));
  const list = (key: string, items: readonly Owned<BlockValue>[]): YamlEntry =>
    entryAt(
      anchor(at(items[0]!)),
      key,
      listAt(
        test,
        items.map((item) => node(item.value, at(item))),
      ),
    );
  const entries = [
    ...[...keys].map(([key, owned]) => one(key, owned)),
    ...[...lists].map(([key, items]) => list(key, items)),
  ];
  if (all.length > 0) entries.push(list('all', all));
  if (severity !== undefined)
    entries.push(entryAt(anchor(test), 'severity', scalarAt(test, severity)));
  return entryAt(anchor(test), layer, mapAt(test, entries));
}

function isSoundTest(test: Tests['tests'][number], problems: Tests['problems']): boolean {
  let isSound = true;
  for (const key of ['id', 'metric']) {
    if (test.entries.has(key)) continue;
    isSound = false;
    problems.add(test, { code: 'SPEC_REQUIRED', message: `a test needs "${key}"` });
  }
  for (const [key, schema] of Object.entries(TEST_SCHEMAS)) {
    const entry = test.entries.get(key);
    if (entry !== undefined) isSound = checkValue(entry, schema, problems) && isSound;
  }
  return isSound;
}

/** Tests with `metric`: each is judged once over all recordings. */
function overallSuite(root: YamlMap, { tests, cases, problems, files }: Tests): Suite | undefined {
  const policies = new PolicyLoader(root.source.file, problems, files);
  const folder = SpecFolder.of(root.source.file, files);
  const ids = new Set<string>();
  const queries = tests.flatMap((test, i): Query[] => {
    if (!isSoundTest(test, problems)) return [];
    const { overall, carried, name: id, description, tags = [] } = cases[i]!;
    if (ids.has(id))
      problems.add(test.entries.get('id')!.value, {
        code: 'SPEC_DUPLICATE',
        message: `the id "${id}" is used twice`,
      });
    ids.add(id);
    if (overall === undefined) {
      for (const { finding } of carried) report(finding, test, problems);
      return [];
    }
    const used: Policy[] = [];
    const load = (written: YamlNode, strict: boolean): Policy | undefined => {
      const policy = policies.load(written, { strict });
      if (policy !== undefined && !test.entries.has('rules')) used.push(policy);
      return policy;
    };
    const policyTest =
      overall.metric === 'module'
        ? moduleTest(overall, { test, folder, problems })
        : policyTestOf(overall, { test, problems, load });
    if (policyTest === undefined) return [];
    const metric = test.entries.get('metric')!;
    return [
      {
        id,
        query: description ?? sentence(policyTest, test),
        description,
        tags,
        runs: 1,
        minPassRate: 1,
        test: policyTest,
        policies: used.length === 0 ? undefined : used,
        location: locate(test.source, test.start),
        locations: { policy: locate(metric.keySource, metric.keyStart) },
      },
    ];
  });
  const { file } = root.source;
  const plain = toPlain(root) as { suite?: string };
  const sources = queries.flatMap((query) => (query.policies ?? []).flatMap((one) => one.sources));
  return {
    version: 1,
    agent: plain.suite ?? basename(file, extname(file)),
    file,
    dir: dirname(file),
    hash: `sha256:${sha256Hex(canonicalJson([plain, sources.map(sha256Hex)]))}`,
    baselineDir: './baselines',
    use: [],
    queries,
  };
}

function policyTestOf(
  { metric, policy: written, tools, strict }: Exclude<OverallTest, { metric: 'module' }>,
  {
    test,
    problems,
    load,
  }: {
    readonly test: YamlMap;
    readonly problems: SpecProblems;
    readonly load: (written: YamlNode, strict: boolean) => Policy | undefined;
  },
): PolicyTest | undefined {
  const key = ['policy', 'constraints', 'rules', 'blocklist'].find((each) =>
    test.entries.has(each),
  )!;
  const entry = test.entries.get(key)!;
  const policy = load(
    key === 'policy' ? entry.value : node(written as BlockValue, keyPlace(entry)),
    strict,
  );
  if (policy === undefined) return undefined;
  // The policy built from lists in the test has been checked.
  const isNamed = key === 'policy';
  const cannotFail = (message: string, at: YamlNode = entry.value): undefined => {
    problems.add(at, { code: 'SPEC_CANNOT_FAIL', message });
    return undefined;
  };
  switch (metric) {
    case 'args_valid': {
      if (!policy.hasCallRules && !strict)
        return cannotFail(
          'the policy has no rules on calls and their arguments, so args_valid cannot fail',
        );
      const chosen = tools as readonly string[] | undefined;
      const problem = chosen && filterProblem(policy, chosen, strict);
      if (problem !== undefined) return cannotFail(problem, test.entries.get('tools')!.value);
      return { metric, policy, strict, tools: chosen };
    }
    case 'sequence_valid':
      return isNamed && policy.rules.length === 0
        ? cannotFail('the policy has no "sequences", so this test cannot fail')
        : { metric, rules: policy.rules, file: policy.file };
    case 'tool_blocklist':
      return isNamed && policy.blocklist.length === 0
        ? cannotFail('the policy has no "blocklist", so this test cannot fail')
        : { metric, blocklist: policy.blocklist, file: policy.file };
  }
}

function moduleTest(
  { module, export: name, config, timeoutMs }: Extract<OverallTest, { metric: 'module' }>,
  {
    test,
    folder,
    problems,
  }: { readonly test: YamlMap; readonly folder: SpecFolder; readonly problems: SpecProblems },
): PolicyTest | undefined {
  const found = folder.find(module);
  if (found.ok)
    return {
      metric: 'module',
      name: basename(module).replace(/\.[cm]?[jt]s$/, ''),
      module: resolve(folder.path, module),
      export: name as string,
      config,
      timeoutMs: timeoutMs as number | undefined,
    };
  problems.add(placeAt(test, ['metric']), {
    code: 'SPEC_FILE_MISSING',
    message: `there is no module "${module}" below the folder of the suite`,
  });
  return undefined;
}

function sentence(test: PolicyTest, { entries }: YamlMap): string {
  switch (test.metric) {
    case 'args_valid': {
      const policy = entries.get('policy')?.value;
      const shown = policy?.kind === 'scalar' ? policy.value : 'the policy';
      return `args_valid: arguments as ${shown} asks`;
    }
    case 'sequence_valid':
      return `sequence_valid: ${test.rules.map(({ id }) => id).join(', ')}`;
    case 'tool_blocklist':
      return `tool_blocklist: ${test.blocklist.map(({ text: name }) => name).join(', ')}`;
    case 'module':
      return `${test.name}: ${toPlain(entries.get('metric')!.value)}`;
  }
}

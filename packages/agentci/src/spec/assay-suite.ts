import { basename, dirname, extname, resolve } from 'node:path';
import type { Location } from '../kit/diagnostic.ts';
import { canonicalJson, sha256Hex } from '../kit/hash.ts';
import type { Problem } from '../kit/problem.ts';
import { type ValueSchema, v } from '../kit/value-schema.ts';
import {
  keyPlace,
  locate,
  placeAt,
  toPlain,
  type YamlMap,
  type YamlNode,
} from '../kit/yaml-node.ts';
import { compileRules } from '../policy/compile-rules.ts';
import { filterProblem } from '../policy/evaluate-arguments.ts';
import { unknownHint } from '../policy/issue.ts';
import type { Policy } from '../policy/policy.ts';
import { MAX_TIMEOUT_MS } from '../runners/config.ts';
import { hasAssayTests } from './assay-expected.ts';
import { type SpecFiles, SpecFolder } from './files.ts';
import { PolicyLoader } from './policy-loader.ts';
import type { SpecProblems } from './problems.ts';
import type { PolicyTest, Query, Suite } from './suite.ts';
import { checkValue, isBroken, isNull } from './value-check.ts';

/** An Assay suite tells itself by its own words: `tests`, usually with `suite`, and no `queries`. */
export function isAssaySuite(root: YamlMap): boolean {
  return (
    root.entries.has('tests') &&
    !root.entries.has('queries') &&
    !root.entries.has('agent') &&
    hasAssayTests(root)
  );
}

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
const ROOT_KEYS = [...Object.keys(ROOT_SCHEMAS), 'tests'];

const METRICS = ['args_valid', 'sequence_valid', 'tool_blocklist'] as const;
type Metric = (typeof METRICS)[number];
const COMMON_KEYS = ['id', 'metric', 'description', 'tags'];
const METRIC_KEYS: Readonly<Record<Metric | 'module', readonly string[]>> = {
  args_valid: ['policy', 'tools', 'strict', 'tool', 'constraints'],
  sequence_valid: ['policy', 'rules', 'aliases'],
  tool_blocklist: ['policy', 'blocklist'],
  module: ['config', 'export', 'timeout_ms'],
};
const TEST_SCHEMAS: Readonly<Record<string, ValueSchema>> = {
  id: v
    .string()
    .max(100)
    .regex(
      /^[._-]*[A-Za-z0-9][A-Za-z0-9._-]*$/,
      'an id is written in letters, digits, dots, dashes and underscores, and is not just punctuation',
    ),
  metric: text,
  description: v.string(),
  tags: v.array(text),
  tools: v.array(text).min(1),
  strict: v.boolean(),
  tool: text,
  export: text,
  timeout_ms: v.number().int().min(1).max(MAX_TIMEOUT_MS),
};
const MODULE = /^\.{0,2}\/|\.[cm]?[jt]s$/;
const DEFAULT_DIRECTORY = '.agentci/reports';

/** Reads an Assay suite into the same suite a spec becomes: one query per test, judged over all traces. */
export function readAssaySuite(
  root: YamlMap,
  problems: SpecProblems,
  files: SpecFiles,
): Suite | undefined {
  for (const entry of root.entries.values()) {
    const schema = ROOT_SCHEMAS[entry.key];
    if (schema !== undefined) checkValue(entry, schema, problems);
    else if (!ROOT_KEYS.includes(entry.key))
      problems.add(keyPlace(entry), {
        code: 'SPEC_UNKNOWN_KEY',
        message: `an Assay suite has no key "${entry.key}"`,
        hint: unknownHint(entry.key, ROOT_KEYS, 'the keys known here'),
      });
  }
  const queries = new TestReader(root, problems, files).read();
  if (problems.hasErrors) return undefined;
  const { file } = root.source;
  const plain = toPlain(root) as {
    suite?: string;
    output?: { format?: string | string[]; directory?: string };
  };
  const format = plain.output?.format;
  return {
    version: 1,
    agent: plain.suite ?? basename(file, extname(file)),
    file,
    dir: dirname(file),
    hash: `sha256:${sha256Hex(canonicalJson([plain, queries.flatMap(sourcesOf).map(sha256Hex)]))}`,
    baselineDir: './baselines',
    use: [],
    queries,
    ...(format === undefined
      ? {}
      : {
          output: {
            formats: typeof format === 'string' ? [format] : format,
            directory: plain.output?.directory ?? DEFAULT_DIRECTORY,
          },
        }),
  };
}

class TestReader {
  readonly #root: YamlMap;
  readonly #problems: SpecProblems;
  readonly #policies: PolicyLoader;
  readonly #ids = new Set<string>();
  /** The policies the test being read uses. */
  #used: Policy[] = [];

  readonly #files: SpecFiles;

  constructor(root: YamlMap, problems: SpecProblems, files: SpecFiles) {
    this.#files = files;
    this.#root = root;
    this.#problems = problems;
    this.#policies = new PolicyLoader(root.source.file, problems, files);
  }

  read(): Query[] {
    const entry = this.#root.entries.get('tests')!;
    const { value } = entry;
    if (isBroken(value)) return [];
    if (value.kind !== 'seq' || value.items.length === 0) {
      const isEmpty = value.kind === 'seq' || isNull(value);
      this.#add(isEmpty ? keyPlace(entry) : value, {
        code: isEmpty ? 'SPEC_EMPTY' : 'SPEC_TYPE',
        message: isEmpty ? '"tests" is empty: nothing would be tested' : '"tests" must be a list',
      });
      return [];
    }
    return value.items.flatMap((item) => this.#test(item) ?? []);
  }

  #test(node: YamlNode): Query | undefined {
    if (node.kind !== 'map') {
      if (!isBroken(node))
        this.#add(node, { code: 'SPEC_TYPE', message: 'each item of "tests" must be a map' });
      return undefined;
    }
    let isSound = true;
    for (const key of ['id', 'metric']) {
      if (node.entries.has(key)) continue;
      isSound = false;
      this.#add(node, { code: 'SPEC_REQUIRED', message: `a test needs "${key}"` });
    }
    for (const [key, schema] of Object.entries(TEST_SCHEMAS)) {
      const entry = node.entries.get(key);
      if (entry !== undefined) isSound = checkValue(entry, schema, this.#problems) && isSound;
    }
    if (!isSound) return undefined;
    const id = plainAt(node, 'id') as string;
    const metric = plainAt(node, 'metric') as string;
    if (this.#ids.has(id))
      this.#add(node.entries.get('id')!.value, {
        code: 'SPEC_DUPLICATE_ID',
        message: `the id "${id}" is used twice`,
      });
    this.#ids.add(id);
    this.#used = [];
    const test = this.#body(node, metric);
    if (test === undefined) return undefined;
    const description = plainAt(node, 'description') as string | undefined;
    const place = node.entries.get('metric')!;
    const location = locate(node.source, node.start);
    return {
      id,
      query: description ?? sentence(test, node),
      description,
      tags: (plainAt(node, 'tags') as string[] | undefined) ?? [],
      runs: 1,
      minPassRate: 1,
      test,
      policies: this.#used.length !== 0 ? this.#used : undefined,
      location,
      locations: { policy: locate(place.keySource, place.keyStart) },
    };
  }

  #body(node: YamlMap, metric: string): PolicyTest | undefined {
    const known = METRICS.find((each) => each === metric);
    if (known === undefined && !MODULE.test(metric)) {
      this.#add(node.entries.get('metric')!.value, {
        code: 'SPEC_CHOICE',
        message: `there is no metric "${metric}"`,
        hint: `${unknownHint(metric, METRICS, 'the metrics')}; your own is named by the path of its module: metric: ./metrics/mine.ts`,
      });
      return undefined;
    }
    const allowed = [...COMMON_KEYS, ...METRIC_KEYS[known ?? 'module']];
    let isSound = true;
    for (const entry of node.entries.values()) {
      if (allowed.includes(entry.key)) continue;
      isSound = false;
      this.#add(keyPlace(entry), {
        code: 'SPEC_UNKNOWN_KEY',
        message: `a test of ${known ?? 'a module'} has no key "${entry.key}"`,
        hint: unknownHint(entry.key, allowed, 'the keys known here'),
      });
    }
    if (!isSound) return undefined;
    switch (known) {
      case 'args_valid':
        return this.#argsValid(node);
      case 'sequence_valid':
        return this.#sequenceValid(node);
      case 'tool_blocklist':
        return this.#blocklist(node);
      default:
        return this.#module(node, metric);
    }
  }

  #argsValid(node: YamlMap): PolicyTest | undefined {
    const strict = plainAt(node, 'strict') === true;
    const policy = this.#argumentPolicy(node, strict);
    if (policy === undefined) return undefined;
    const tools = plainAt(node, 'tools') as string[] | undefined;
    const place = node.entries.get('policy') ?? node.entries.get('constraints')!;
    if (!policy.hasCallRules && !strict) {
      this.#add(place.value, {
        code: 'SPEC_CANNOT_FAIL',
        message: 'the policy has no rules on calls and their arguments, so args_valid cannot fail',
      });
      return undefined;
    }
    const problem = tools === undefined ? undefined : filterProblem(policy, tools, strict);
    if (problem !== undefined) {
      this.#add(node.entries.get('tools')!.value, { code: 'SPEC_CANNOT_FAIL', message: problem });
      return undefined;
    }
    return { metric: 'args_valid', policy, strict, tools };
  }

  /** `policy:`, or the short `tool:` with `constraints:`, which stands for a policy of one tool. */
  #argumentPolicy(node: YamlMap, strict: boolean): Policy | undefined {
    const written = node.entries.get('policy');
    if (written !== undefined) return this.#load(written.value, { strict });
    const tool = node.entries.get('tool');
    const constraints = node.entries.get('constraints');
    if (tool === undefined || constraints === undefined) {
      this.#add(node, {
        code: 'SPEC_REQUIRED',
        message: 'a test of args_valid needs "policy", or "tool" and "constraints"',
      });
      return undefined;
    }
    const around = (key: string, value: YamlNode): YamlMap => ({
      kind: 'map',
      source: constraints.keySource,
      start: constraints.keyStart,
      entries: new Map([
        [key, { key, keySource: constraints.keySource, keyStart: constraints.keyStart, value }],
      ]),
    });
    const name = String(toPlain(tool.value));
    return this.#load(around('tools', around(name, around('arguments', constraints.value))), {
      strict,
    });
  }

  #sequenceValid(node: YamlMap): PolicyTest | undefined {
    const rules = node.entries.get('rules');
    if (rules === undefined) {
      const policy = this.#policyFor(node, 'rules', 'sequences', (each) => each.rules.length > 0);
      return policy === undefined
        ? undefined
        : { metric: 'sequence_valid', rules: policy.rules, file: policy.file };
    }
    const { value } = rules;
    const aliases = new Map(
      Object.entries(
        (plainAt(node, 'aliases') as Record<string, string | string[]> | undefined) ?? {},
      ).map(([name, tools]) => [name, Array.isArray(tools) ? tools.map(String) : [String(tools)]]),
    );
    const placeOf = (index: number): Location => {
      const { source, start } = placeAt(value, [index]);
      return locate(source, start);
    };
    const compiled = compileRules(toPlain(value), { aliases, placeOf });
    for (const { path = [], part, severity, code, message, hint } of compiled.issues)
      this.#add(placeAt(value, path, part), { severity, code, message, hint });
    if (compiled.issues.some(({ severity }) => severity !== 'warning')) return undefined;
    return { metric: 'sequence_valid', rules: compiled.rules, file: this.#root.source.file };
  }

  #blocklist(node: YamlMap): PolicyTest | undefined {
    const list = node.entries.get('blocklist');
    if (list === undefined) {
      const policy = this.#policyFor(
        node,
        'blocklist',
        'blocklist',
        (each) => each.blocklist.length > 0,
      );
      return policy && { metric: 'tool_blocklist', blocklist: policy.blocklist, file: policy.file };
    }
    const alone: YamlMap = {
      kind: 'map',
      source: list.keySource,
      start: list.keyStart,
      entries: new Map([['blocklist', list]]),
    };
    const policy = this.#load(alone);
    return policy && { metric: 'tool_blocklist', blocklist: policy.blocklist, file: policy.file };
  }

  #policyFor(
    node: YamlMap,
    key: string,
    part: string,
    has: (policy: Policy) => boolean,
  ): Policy | undefined {
    const written = node.entries.get('policy');
    if (written === undefined) {
      this.#add(node, {
        code: 'SPEC_REQUIRED',
        message: `this test needs "${key}", or a "policy" with "${part}"`,
      });
      return undefined;
    }
    const policy = this.#load(written.value);
    if (policy === undefined || has(policy)) return policy;
    this.#add(written.value, {
      code: 'SPEC_CANNOT_FAIL',
      message: `the policy has no "${part}", so this test cannot fail`,
    });
    return undefined;
  }

  #module(node: YamlMap, metric: string): PolicyTest | undefined {
    const entry = node.entries.get('metric')!;
    const folder = SpecFolder.of(this.#root.source.file, this.#files);
    const file = resolve(folder.path, metric);
    if (!folder.find(metric).ok) {
      this.#add(entry.value, {
        code: 'SPEC_MODULE_FILE',
        message: `there is no module "${metric}" below the folder of the suite`,
      });
      return undefined;
    }
    const timeoutMs = plainAt(node, 'timeout_ms') as number | undefined;
    return {
      metric: 'module',
      name: basename(metric).replace(/\.[cm]?[jt]s$/, ''),
      module: file,
      export: (plainAt(node, 'export') as string | undefined) ?? 'default',
      config: plainAt(node, 'config') ?? {},
      timeoutMs,
    };
  }

  #load(node: YamlNode, options: { readonly strict?: boolean } = {}): Policy | undefined {
    const policy = this.#policies.load(node, options);
    if (policy !== undefined) this.#used.push(policy);
    return policy;
  }

  #add(place: Parameters<SpecProblems['add']>[0], problem: Problem): void {
    this.#problems.add(place, problem);
  }
}

const sourcesOf = ({ policies }: Query): readonly string[] =>
  (policies ?? []).flatMap(({ sources }) => sources);

function sentence(test: PolicyTest, node: YamlMap): string {
  switch (test.metric) {
    case 'args_valid':
      return `args_valid: arguments as ${typeof plainAt(node, 'policy') === 'string' ? plainAt(node, 'policy') : 'the policy'} asks`;
    case 'sequence_valid':
      return `sequence_valid: ${test.rules.map(({ id }) => id).join(', ')}`;
    case 'tool_blocklist':
      return `tool_blocklist: ${test.blocklist.map(({ text: name }) => name).join(', ')}`;
    case 'module':
      return `${test.name}: ${plainAt(node, 'metric')}`;
  }
}

function plainAt(node: YamlMap, key: string): unknown {
  const entry = node.entries.get(key);
  return entry === undefined ? undefined : toPlain(entry.value);
}

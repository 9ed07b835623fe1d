import type { Problem } from '../kit/problem.ts';
import { posixClassIn } from '../kit/regex-posix.ts';
import {
  keyPlace,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '../kit/yaml-node.ts';
import { entryAt, mapAt, scalarAt } from '../policy/assay-form.ts';
import { unknownHint } from '../policy/issue.ts';
import type { SpecProblems } from './problems.ts';

/** A suite whose tests say `expected: {type: …}` of one prompt each. */
export function isExpectedSuite(root: YamlMap): boolean {
  return testsOf(root).some(
    ({ entries }) =>
      !entries.has('metric') && (entries.has('expected') || entries.has('assertions')),
  );
}

/** Whether `tests` is Assay's: other tools have a key of that name too. */
export function hasAssayTests(root: YamlMap): boolean {
  const tests = testsOf(root);
  const isNamed = root.entries.has('suite') || root.entries.has('configVersion');
  return (
    isNamed ||
    tests.some(({ entries }) =>
      ['metric', 'expected', 'assertions'].some((key) => entries.has(key)),
    )
  );
}

function testsOf(root: YamlMap): YamlMap[] {
  const tests = root.entries.get('tests')?.value;
  return tests?.kind === 'seq' ? tests.items.filter((item) => item.kind === 'map') : [];
}

const ROOT_KEYS = [
  'version',
  'configVersion',
  'suite',
  'model',
  'settings',
  'tests',
  'description',
];
const TEST_KEYS = ['id', 'description', 'input', 'expected', 'assertions', 'tags', 'on_error'];
/** How fast Assay runs, which recordings do not need to know. */
const SETTINGS = ['parallel', 'timeout_seconds', 'cache', 'seed', 'bail_on_first_failure'];
const SETTING_HINTS: Readonly<Record<string, string>> = {
  thresholding:
    'scores are compared with a baseline: agentci test --baseline-dir, or write "min" with the check',
};
const NO_COUNTERPART: Readonly<Record<string, string>> = {
  judge_criteria: 'write correctness: {llm_judge: [{rule: …}]} in a spec of queries',
  faithfulness: 'write correctness: {hallucination_check: {rule: …}} in a spec of queries',
  relevance: 'write correctness: {llm_judge: [{rule: …}]} in a spec of queries',
  tool_description_integrity:
    'write rules: [{type: tool_definition, pinned: tools.json}] in a policy',
  tool_collision_detect: 'write rules: [{type: tool_definition}] in a policy',
  tool_output_valid: 'write rules: [{type: expr, expr: …}] over result in a policy',
  trace_max_steps: 'write path: {max_tool_calls: …} in a spec of queries',
};

/** What `type` may say. */
const TYPES = [
  ...[
    'must_contain',
    'must_not_contain',
    'regex_match',
    'regex_not_match',
    'json_schema',
    'semantic_similarity_to',
  ],
  ...['args_valid', 'sequence_valid', 'tool_blocklist'],
  ...['trace_must_call_tool', 'trace_must_not_call_tool', 'trace_tool_sequence'],
];

type Block = 'correctness' | 'path' | 'policy';
interface Check {
  readonly block: Block;
  readonly entries: readonly YamlEntry[];
}

/** The suite as a spec of queries: a test is a query that is matched to its recording by the prompt. */
export function specOfExpected(root: YamlMap, problems: SpecProblems): YamlMap {
  const unknown = (
    entry: YamlEntry,
    where: string,
    known: readonly string[],
    hint?: string,
  ): void =>
    problems.add(keyPlace(entry), {
      code: 'SPEC_UNKNOWN_KEY',
      message: `${where} has no key "${entry.key}"`,
      hint: hint ?? unknownHint(entry.key, known, 'the keys known here'),
    });
  for (const entry of root.entries.values())
    if (
      !ROOT_KEYS.includes(entry.key) &&
      !entry.key.startsWith('x-') &&
      entry.key !== 'definitions'
    )
      unknown(entry, 'an Assay suite', ROOT_KEYS);
  const settings = root.entries.get('settings')?.value;
  if (settings?.kind === 'map')
    for (const entry of settings.entries.values())
      if (!SETTINGS.includes(entry.key))
        unknown(entry, '"settings"', SETTINGS, SETTING_HINTS[entry.key]);
  const suite = root.entries.get('suite');
  const tests = root.entries.get('tests')!;
  const queries = testsOf(root).flatMap((test) => {
    for (const entry of test.entries.values())
      if (!TEST_KEYS.includes(entry.key)) unknown(entry, 'a test', TEST_KEYS);
    return new ExpectedReader(test, problems).read() ?? [];
  });
  return mapAt(root, [
    entryAt(tests, 'version', scalarAt(root, 1)),
    entryAt(suite ?? tests, 'agent', suite?.value ?? scalarAt(root, 'suite')),
    entryAt(tests, 'queries', {
      kind: 'seq',
      source: tests.value.source,
      start: tests.value.start,
      items: queries,
    }),
  ]);
}

/** These tools in this order, with calls of others between them or not. */
function callsInOrder(given: YamlEntry, allowsOthers: boolean): Check {
  const { value } = given;
  const calls =
    value.kind === 'seq'
      ? value.items.map((item) => mapAt(item, [entryAt(given, 'tool', item)]))
      : [];
  const list: YamlNode = {
    kind: 'seq',
    source: value.source,
    start: value.start,
    items: calls,
  };
  const entries = [
    entryAt(given, 'mode', scalarAt(value, allowsOthers ? 'in_order' : 'exact')),
    entryAt(given, 'args', scalarAt(value, 'ignore')),
    entryAt(given, 'calls', list),
  ];
  return { block: 'path', entries: [entryAt(given, 'expected_calls', mapAt(value, entries))] };
}

class ExpectedReader {
  readonly #test: YamlMap;
  readonly #problems: SpecProblems;

  constructor(test: YamlMap, problems: SpecProblems) {
    this.#test = test;
    this.#problems = problems;
  }

  read(): YamlMap | undefined {
    const test = this.#test;
    const input = test.entries.get('input');
    const prompt = input?.value.kind === 'map' ? input.value.entries.get('prompt') : input;
    const id = test.entries.get('id');
    if (id === undefined) this.#fail(test, 'SPEC_REQUIRED', 'a test needs "id"');
    if (prompt === undefined)
      this.#fail(input?.value ?? test, 'SPEC_REQUIRED', 'a test needs "input" with "prompt"');
    const expected = test.entries.get('expected');
    const assertions = test.entries.get('assertions');
    if (expected === undefined && assertions === undefined)
      this.#fail(
        test,
        'SPEC_CANNOT_FAIL',
        'a test without "expected" cannot fail',
        'say what is expected',
      );
    const checks = [
      ...(expected === undefined ? [] : this.#expected(expected)),
      ...(assertions === undefined ? [] : this.#assertions(assertions)),
    ];
    if (id === undefined || prompt === undefined || checks.length === 0) return undefined;
    const notes = ['description', 'tags'].flatMap((key) => test.entries.get(key) ?? []);
    return mapAt(test, [
      id,
      entryAt(prompt, 'query', prompt.value),
      ...notes,
      ...this.#blocks(checks),
    ]);
  }

  /** A key that is wanted twice goes into a list of blocks that must all hold. */
  #blocks(checks: readonly Check[]): YamlEntry[] {
    return (['correctness', 'path', 'policy'] as const).flatMap((block) => {
      const [first, ...more] = checks.filter((check) => check.block === block);
      if (first === undefined) return [];
      const at = first.entries[0]!;
      if (block === 'policy') {
        for (const extra of more)
          this.#fail(
            extra.entries[0]!.value,
            'SPEC_CHOICE',
            'a test can have one policy',
            'make it two tests',
          );
        return [entryAt(at, 'policy', at.value)];
      }
      if (more.length === 0) return [entryAt(at, block, mapAt(this.#test, first.entries))];
      const items = [first, ...more].map(({ entries }) => mapAt(this.#test, entries));
      const all: YamlNode = {
        kind: 'seq',
        source: this.#test.source,
        start: this.#test.start,
        items,
      };
      return [entryAt(at, block, mapAt(this.#test, [entryAt(at, 'all', all)]))];
    });
  }

  #expected({ value }: YamlEntry): Check[] {
    // A list of one is how older suites write it.
    if (value.kind === 'seq' && value.items.length === 1) return this.#one(value.items[0]!);
    if (value.kind === 'seq')
      return this.#fail(
        value,
        'SPEC_CHOICE',
        'Assay reads only the first of several expectations',
        'make them tests of their own',
      );
    return this.#one(value);
  }

  #assertions({ value }: YamlEntry): Check[] {
    if (value.kind !== 'seq') return this.#fail(value, 'SPEC_TYPE', '"assertions" must be a list');
    return value.items.flatMap((item) => this.#one(item));
  }

  #one(node: YamlNode): Check[] {
    if (node.kind !== 'map')
      return this.#fail(node, 'SPEC_TYPE', 'an expectation is a map with "type"');
    const legacy = ['must_contain', 'must_not_contain'].find((key) => node.entries.has(key));
    const type = node.entries.has('type')
      ? String(toPlain(node.entries.get('type')!.value))
      : legacy;
    const get = (...keys: string[]): YamlEntry | undefined =>
      keys
        .flatMap((key) => node.entries.get(key) ?? [])
        .find(({ value }) => toPlain(value) !== null);
    const needs = (...keys: string[]): YamlEntry | undefined => {
      const found = get(...keys);
      if (found === undefined)
        this.#fail(
          node,
          'SPEC_REQUIRED',
          `"${type}" needs ${keys.map((key) => `"${key}"`).join(' or ')}, so that it can fail`,
        );
      return found;
    };
    const only = (...keys: string[]): void => {
      for (const entry of node.entries.values())
        if (entry.key !== 'type' && !keys.includes(entry.key))
          this.#fail(
            keyPlace(entry),
            'SPEC_UNKNOWN_KEY',
            `"${type}" has no key "${entry.key}" here`,
            `the keys known here: ${keys.join(', ')}`,
          );
    };
    const listed = (entry: YamlEntry): YamlNode =>
      entry.value.kind === 'seq'
        ? entry.value
        : {
            kind: 'seq',
            source: entry.value.source,
            start: entry.value.start,
            items: [entry.value],
          };
    switch (type) {
      case 'must_contain':
      case 'must_not_contain': {
        only(type);
        const terms = needs(type);
        if (terms === undefined) return [];
        const key = type === 'must_contain' ? 'expected_in_answer' : 'not_in_answer';
        return [
          {
            block: 'correctness',
            entries: [
              entryAt(terms, key, listed(terms)),
              entryAt(terms, 'case_sensitive', scalarAt(terms.value, true)),
            ],
          },
        ];
      }
      case 'regex_match':
      case 'regex_not_match': {
        only('pattern', 'flags');
        const pattern = needs('pattern');
        if (pattern === undefined) return [];
        const posix = posixClassIn(String(toPlain(pattern.value)));
        if (posix !== undefined)
          return this.#fail(
            pattern.value,
            'SPEC_REGEX',
            `"${posix.written}" in a set is not read as a class here`,
            posix.set === undefined
              ? 'write the characters themselves'
              : `write ${posix.set} in its place`,
          );
        const flags = toPlain(get('flags')?.value ?? scalarAt(node, ''));
        const letters = (Array.isArray(flags) ? flags.map(String) : [String(flags)])
          .join('')
          .replace(/[^ims]/g, '');
        const text = scalarAt(
          pattern.value,
          `${letters === '' ? '' : `(?${[...new Set(letters)].join('')})`}${String(toPlain(pattern.value))}`,
        );
        const regex = entryAt(pattern, 'regex_match', text);
        return type === 'regex_match'
          ? [{ block: 'correctness', entries: [regex] }]
          : [{ block: 'correctness', entries: [entryAt(pattern, 'not', mapAt(node, [regex]))] }];
      }
      case 'json_schema': {
        only('json_schema', 'schema_file');
        const file = get('schema_file');
        if (file !== undefined)
          return this.#fail(
            file.value,
            'SPEC_UNKNOWN_KEY',
            'a schema in a file is not read from a suite',
            'write it under "json_schema"',
          );
        const schema = needs('json_schema');
        return schema === undefined
          ? []
          : [
              {
                block: 'correctness',
                entries: [entryAt(schema, 'json_schema', this.#json(schema.value))],
              },
            ];
      }
      case 'semantic_similarity_to': {
        only('semantic_similarity_to', 'text', 'min_score', 'threshold');
        const text = needs('semantic_similarity_to', 'text');
        if (text === undefined) return [];
        const min = get('min_score', 'threshold');
        const entries = [
          entryAt(text, 'to', text.value),
          entryAt(min ?? text, 'min', min?.value ?? scalarAt(node, 0.8)),
        ];
        return [
          { block: 'correctness', entries: [entryAt(text, 'similarity', mapAt(node, entries))] },
        ];
      }
      case 'args_valid': {
        only('policy', 'schema');
        const policy = needs('policy', 'schema');
        if (policy === undefined) return [];
        return [{ block: 'policy', entries: [policy] }];
      }
      case 'sequence_valid': {
        only('policy', 'sequence', 'rules');
        const given = needs('policy', 'rules', 'sequence');
        if (given === undefined) return [];
        if (given.key === 'policy') return [{ block: 'policy', entries: [given] }];
        if (given.key === 'rules') return [{ block: 'path', entries: [given] }];
        return [callsInOrder(given, false)];
      }
      case 'trace_tool_sequence': {
        only('sequence', 'allow_other_tools');
        const given = needs('sequence');
        if (given === undefined) return [];
        return [
          callsInOrder(
            given,
            toPlain(get('allow_other_tools')?.value ?? scalarAt(node, false)) === true,
          ),
        ];
      }
      case 'tool_blocklist': {
        only('blocked');
        const blocked = needs('blocked');
        return blocked === undefined
          ? []
          : [{ block: 'path', entries: [entryAt(blocked, 'forbidden_tools', listed(blocked))] }];
      }
      case 'trace_must_not_call_tool':
      case 'trace_must_call_tool': {
        only('tool', 'min_calls');
        const tool = needs('tool');
        if (tool === undefined) return [];
        if (type === 'trace_must_not_call_tool')
          return [{ block: 'path', entries: [entryAt(tool, 'forbidden_tools', listed(tool))] }];
        const min = get('min_calls')?.value ?? scalarAt(node, 1);
        const rule = mapAt(node, [
          entryAt(tool, 'type', scalarAt(node, 'count')),
          tool,
          entryAt(tool, 'min', min),
        ]);
        return [
          {
            block: 'path',
            entries: [
              entryAt(tool, 'rules', {
                kind: 'seq',
                source: node.source,
                start: node.start,
                items: [rule],
              }),
            ],
          },
        ];
      }
      default: {
        const at = node.entries.get('type')?.value ?? node;
        const hint = NO_COUNTERPART[type ?? ''] ?? `the types that are read: ${TYPES.join(', ')}`;
        return this.#fail(
          at,
          'SPEC_CHOICE',
          type === undefined
            ? 'an expectation needs "type"'
            : `"${type}" is not read from an Assay suite`,
          hint,
        );
      }
    }
  }

  /** A schema may be written as JSON in a text. */
  #json(value: YamlNode): YamlNode {
    if (value.kind !== 'scalar' || typeof value.value !== 'string') return value;
    try {
      return nodeOf(JSON.parse(value.value), value);
    } catch {
      return value;
    }
  }

  #fail(
    place: Parameters<SpecProblems['add']>[0],
    code: string,
    message: string,
    hint?: string,
  ): [] {
    const problem: Problem = hint === undefined ? { code, message } : { code, message, hint };
    this.#problems.add(place, problem);
    return [];
  }
}

/** A value as a node, all of it at one place. */
function nodeOf(value: unknown, at: YamlNode): YamlNode {
  if (Array.isArray(value))
    return {
      kind: 'seq',
      source: at.source,
      start: at.start,
      items: value.map((each) => nodeOf(each, at)),
    };
  if (typeof value !== 'object' || value === null)
    return scalarAt(at, value as string | number | boolean | null);
  const place = { keySource: at.source, keyStart: at.start };
  return mapAt(
    at,
    Object.entries(value).map(([key, each]) => entryAt(place, key, nodeOf(each, at))),
  );
}

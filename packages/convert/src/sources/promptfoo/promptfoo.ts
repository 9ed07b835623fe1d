import { isObject } from '@agentci/lib/data';
import type { SourceFile } from '../../folder.ts';
import type {
  Block,
  BlockValue,
  ConvertedCase,
  ConvertedSuite,
  Finding,
  Place,
} from '../../model.ts';
import { placed, placeOf } from '../../places.ts';
import type { SourceOptions, SuiteSource } from '../../source.ts';
import { readAssertions } from './assertions.ts';
import { type Combination, combinations } from './expand.ts';
import { filtered } from './filters.ts';
import { ask, type Prompt, readPrompts } from './prompts.ts';
import { type Providers, readProviders } from './providers.ts';
import { jsonText, render, type Vars } from './render.ts';
import { isResults, readResults } from './results.ts';
import { readTests, type Test, testsInFile } from './tests.ts';

export const source: SuiteSource = {
  name: 'promptfoo',
  summary:
    'promptfooconfig.yaml or .json, tests in CSV, JSONL and YAML, and files of "promptfoo eval -o"',
  recognizes: (file) => {
    if (file.extension === '.csv')
      return /(?:^|[,"])\s*__expected/.test(file.text.slice(0, 5000).split('\n')[0] ?? '');
    if (!['.yaml', '.yml', '.json'].includes(file.extension)) return false;
    const { value } = file;
    if (!isObject(value)) return false;
    if (isResults(value)) return true;
    const isNamed =
      /^promptfooconfig/.test(file.base) || /^#.*promptfoo/m.test(file.text.slice(0, 400));
    const hasTests = ['tests', 'scenarios', 'defaultTest'].some((key) => key in value);
    const hasTargets = ['prompts', 'providers', 'targets'].some((key) => key in value);
    return (
      (isNamed && (hasTests || hasTargets)) ||
      (hasTests && hasTargets && !('queries' in value) && !('suite' in value))
    );
  },
  read: (file, options) => {
    if (file.extension === '.csv') return readTable(file, options);
    const value = file.value as Vars;
    return isResults(value)
      ? readResults(value, file)
      : readConfig(dereferenced(value, file.name) as Vars, file, options);
  },
};

/**
 * A file of tests alone: the prompt is in another file, so the query is the variable in `--map
 * input=…`, otherwise the first.
 */
function readTable(file: SourceFile, options: SourceOptions): ConvertedSuite {
  const findings: Finding[] = [];
  const rows = testsInFile(file, findings);
  const { tests } = readTests({ tests: rows }, file);
  const input = options.map.input;
  const prompt = (vars: Vars): Prompt => {
    const name = input ?? Object.keys(vars)[0] ?? 'prompt';
    return { label: name, text: `{{${name}}}` };
  };
  const cases = tests.map((test, i) =>
    caseOf({ test, made: { vars: test.vars }, prompt: prompt(test.vars), file, index: i }),
  );
  return { cases, settings: findings };
}

const NOT_ASKED =
  'its filters of prompts and providers leave nothing to ask: promptfoo does not run it';

function readConfig(config: Vars, file: SourceFile, options: SourceOptions): ConvertedSuite {
  const { prompts, findings: promptFindings } = readPrompts(config.prompts, file);
  const { tests, findings: testFindings } = readTests(config, file);
  const providers = readProviders(config.providers ?? config.targets, file, options);
  const settings = [
    ...providers.findings,
    ...promptFindings,
    ...testFindings,
    ...otherSettings(config, file),
  ];
  const repeat = isObject(config.evaluateOptions) ? config.evaluateOptions.repeat : undefined;
  const runs =
    typeof repeat === 'number' && Number.isInteger(repeat) && repeat > 1 ? repeat : undefined;
  const cases: ConvertedCase[] = [];
  const systems = new Set<string | undefined>();
  for (const [index, test] of tests.entries()) {
    const uses = prompts.map((prompt, number) => ({
      prompt,
      number,
      ...filtered(test, prompt, providers.kept),
    }));
    // A test whose filters exclude everything is reported with the first prompt.
    const chosen = uses.some(({ isAsked }) => isAsked)
      ? uses.filter(({ isAsked }) => isAsked)
      : uses.slice(0, 1).map((use) => ({ ...use, skip: NOT_ASKED }));
    for (const made of combinations(test, file))
      for (const { prompt, number, skip } of chosen) {
        const one = caseOf({
          test,
          made,
          prompt,
          file,
          index,
          providers,
          number: prompts.length > 1 ? number : undefined,
        });
        systems.add(asked(prompt, made.vars, test).system);
        cases.push({
          ...one,
          runs: runs ?? one.runs,
          skip: skip ?? one.skip,
        });
      }
  }
  const name =
    typeof config.description === 'string' && config.description.trim() !== ''
      ? config.description
      : undefined;
  return {
    agent: name?.trim().slice(0, 80),
    ...withSystem(providers, systems, settings, file),
    cases,
    settings,
  };
}

/** The system message of a chat becomes the runner's prompt, if all cases have the same. */
function withSystem(
  { runner, matrix, closeRunner }: Providers,
  systems: ReadonlySet<string | undefined>,
  settings: Finding[],
  file: SourceFile,
): { runner?: Block; matrix?: Block; closeRunner?: string } {
  if (runner === undefined) return {};
  const [system, ...others] = systems;
  const rest = {
    matrix,
    closeRunner,
  };
  if (system === undefined && others.length === 0) return { runner, ...rest };
  if (
    others.length > 0 ||
    runner.model === undefined ||
    !/\s/.test(system ?? '') ||
    /\{\{/.test(system ?? '')
  ) {
    const why =
      'the part of the system is not the same in every case, or is not sent by this runner';
    settings.push({ file: file.name, line: 1, type: 'prompt', verdict: 'none', why });
    return {};
  }
  return { runner: { ...runner, prompt: system! }, ...rest };
}

interface CaseInput {
  readonly test: Test;
  readonly made: Combination;
  readonly prompt: Prompt;
  readonly file: SourceFile;
  readonly index: number;
  readonly providers?: Providers;
  readonly number?: number;
}

const asked = (prompt: Prompt, vars: Vars, { options }: Test): ReturnType<typeof ask> => {
  const { prefix = '', suffix = '' } = options;
  if (prefix === '' && suffix === '') return ask(prompt, vars);
  return render(`${String(prefix)}${prompt.text}${String(suffix)}`, vars, jsonText);
};

/** One case: the filled-in prompt as the query, the assertions as checks. */
export function caseOf({
  test,
  made,
  prompt,
  file,
  index,
  providers,
  number,
}: CaseInput): ConvertedCase {
  const { vars } = made;
  const query = asked(prompt, vars, test);
  const place: Place = test.place;
  const changed = changedBy(test, providers);
  const carried = readAssertions(test.assert, test.threshold, {
    vars,
    place,
    changed,
    readFile: (path) => file.beside(path).value,
  });
  const text = query.ok ? query.text : prompt.text;
  const skip =
    made.why ??
    (query.ok ? undefined : query.why) ??
    (text.trim() === '' ? 'the prompt is empty' : undefined);
  const name = test.description ?? `test-${index + 1}`;
  const metadata = Object.fromEntries(
    Object.entries(test.metadata).filter(([, value]) => value !== null),
  );
  const needed = (providers?.variables ?? []).filter((key) => Object.hasOwn(vars, key));
  return {
    place,
    name: number === undefined ? name : `${name}-prompt-${number + 1}`,
    query: text.trim() === '' ? '(empty)' : text,
    description: test.description,
    metadata: Object.keys(metadata).length !== 0 ? (metadata as Block) : undefined,
    vars:
      needed.length !== 0
        ? Object.fromEntries(needed.map((key) => [key, vars[key] as BlockValue]))
        : undefined,
    carried,
    skip: skip === undefined || typeof test.providerOutput === 'string' ? undefined : skip,
    recording:
      typeof test.providerOutput === 'string' ? { answer: test.providerOutput } : undefined,
  };
}

/** The reason why the assertions of a test do not see the original answer. */
function changedBy(
  { options, scoring }: Test,
  providers: Providers | undefined,
): string | undefined {
  if (scoring !== undefined) return 'a function of the suite computes the verdict';
  for (const key of ['transform', 'postprocess'])
    if (options[key] !== undefined)
      return `the test's "${key}" changes the answer with code before it is judged`;
  return providers?.changes;
}

const SETTINGS: Readonly<Record<string, string>> = {
  extensions: 'hooks are code and are not run',
  redteam: 'red teaming is not carried',
  derivedMetrics: 'metrics computed from scores are not carried',
  nunjucksFilters: 'filters are code and are not run',
};

function otherSettings(config: Vars, file: SourceFile): Finding[] {
  return Object.entries(SETTINGS).flatMap(([type, why]) =>
    config[type] === undefined
      ? []
      : [{ file: file.name, line: 1, type, verdict: 'none', why } as const],
  );
}

const MAX_DEPTH = 60;

/** Resolves `{$ref: "#/assertionTemplates/x"}`. Other references stay unchanged. */
function dereferenced(root: unknown, file: string): unknown {
  const seen = new Map<object, unknown>();
  const visit = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    const reference = (value as Vars).$ref;
    if (typeof reference === 'string' && reference.startsWith('#/')) {
      let target: unknown = root;
      for (const step of reference.slice(2).split('/'))
        target = isObject(target) ? target[step] : undefined;
      if (target !== undefined) return visit(target, depth + 1);
    }
    const changed = Array.isArray(value)
      ? value.map((item) => visit(item, depth + 1))
      : Object.fromEntries(
          Object.entries(value).map(([key, item]) => [key, visit(item, depth + 1)]),
        );
    const isSame = Object.entries(changed).every(([key, item]) => (value as Vars)[key] === item);
    // Keeps the parsed values, because their lines are known.
    const kept = isSame ? value : placed(changed, placeOf(value, { file, line: 1 }));
    seen.set(value, kept);
    return kept;
  };
  return visit(root, 0);
}

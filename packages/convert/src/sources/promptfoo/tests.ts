import { isObject } from '@agentci/lib/data';
import type { SourceFile } from '../../folder.ts';
import type { Finding, Place } from '../../model.ts';
import { placed, placeOf } from '../../places.ts';
import { type Assertion, readAssertionText } from './assertion-text.ts';
import type { Vars } from './render.ts';

/** A test merged with its defaults and scenarios. */
export interface Test {
  readonly place: Place;
  readonly description?: string | undefined;
  readonly vars: Vars;
  readonly assert: readonly unknown[];
  readonly threshold?: unknown;
  readonly options: Vars;
  readonly metadata: Vars;
  readonly scoring?: unknown;
  readonly providerOutput?: unknown;
  /** Names of the prompts and providers of the test. Default: all. */
  readonly prompts?: unknown;
  readonly providers?: unknown;
  /** A provider that replaces those of the config. In the defaults it is the judge. */
  readonly provider?: unknown;
}

export interface Tests {
  readonly tests: readonly Test[];
  readonly findings: readonly Finding[];
}

const map = (value: unknown): Vars => (isObject(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Reads `tests` and `scenarios` of a config with their files. Fetches and runs nothing. */
export function readTests(config: Vars, file: SourceFile): Tests {
  const findings: Finding[] = [];
  const root: Place = { file: file.name, line: 1 };
  const defaults = map(loaded(config.defaultTest, file));
  const read = (written: unknown): readonly Record<string, unknown>[] =>
    expandTests(written, file, placeOf(written, root), findings);
  const tests: Test[] = read(config.tests).map((test) => mergeTest(defaults, [test], root));
  for (const scenario of list(loaded(config.scenarios, file)).flatMap((one) =>
    list1(loaded(one, file)),
  )) {
    if (!isObject(scenario)) continue;
    const inner = scenario.tests === undefined ? [{}] : read(scenario.tests);
    for (const data of list(loaded(scenario.config, file)))
      for (const test of inner)
        tests.push(mergeTest(defaults, [map(data), test], placeOf(scenario, root)));
  }
  // A config without tests still sends every prompt once.
  if (tests.length === 0 && config.tests === undefined && config.scenarios === undefined)
    tests.push(mergeTest(defaults, [{}], root));
  return { tests, findings };
}

const list1 = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** The content of a `file://` text, otherwise the value itself. */
function loaded(value: unknown, file: SourceFile): unknown {
  if (typeof value !== 'string' || !/^file:\/\/.*\.(?:json|jsonl|ya?ml|csv)$/.test(value))
    return value;
  return file.beside(value.slice('file://'.length)).value;
}

function expandTests(
  written: unknown,
  file: SourceFile,
  place: Place,
  findings: Finding[],
): readonly Record<string, unknown>[] {
  if (written === undefined || written === null) return [];
  const none = (why: string): readonly Record<string, unknown>[] => {
    findings.push({ ...place, type: 'tests', verdict: 'none', why });
    return [];
  };
  if (Array.isArray(written))
    return written.flatMap((one) => expandTests(one, file, placeOf(one, place), findings));
  if (isObject(written)) {
    if (
      typeof written.path === 'string' &&
      written.vars === undefined &&
      written.assert === undefined
    )
      return expandTests(written.path, file, place, findings);
    return [written];
  }
  if (typeof written !== 'string') return none('it is neither a test nor a file');
  if (/^(?:https?|huggingface|az|s3|gs):\/\//.test(written))
    return none('it is on another machine, and nothing is fetched');
  const path = written.replace(/^file:\/\//, '');
  if (/\.(?:[cm]?[jt]s|py)(?::[\w.]+)?$/.test(path))
    return none('tests that code makes are not made: it is not run');
  if (!/\.(?:csv|jsonl?|ya?ml)$/.test(path))
    return none(`"${path.slice(0, 80)}" is not CSV, JSON, JSONL or YAML`);
  return file.matching(path).flatMap((found) => testsInFile(found, findings));
}

/** Tests in a separate file: rows of a CSV, or tests as in a config. */
export function testsInFile(
  file: SourceFile,
  findings: Finding[],
): readonly Record<string, unknown>[] {
  const { value } = file;
  if (file.extension === '.csv') return (value as readonly Record<string, string>[]).map(testOfRow);
  return list1(value).flatMap((one) => {
    const place = placeOf(one, { file: file.name, line: 1 });
    if (
      isObject(one) &&
      (one.vars !== undefined || one.assert !== undefined || one.description !== undefined)
    )
      return [one];
    // Rows in YAML are read like those of a CSV file.
    if (
      isObject(one) &&
      Object.values(one).every((cell) => typeof cell !== 'object' || cell === null)
    )
      return [
        placed(
          testOfRow(
            Object.fromEntries(Object.entries(one).map(([key, cell]) => [key, String(cell ?? '')])),
            place,
          ),
          place,
        ),
      ];
    if (typeof one === 'string') return expandTests(one, file, place, findings);
    findings.push({ ...place, type: 'tests', verdict: 'none', why: 'it is not a test' });
    return [];
  });
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

function testOfRow(
  row: Readonly<Record<string, string>>,
  at?: Place | number,
): Record<string, unknown> {
  const place = typeof at === 'object' ? at : placeOf(row, { file: '', line: 1 });
  const vars: Record<string, string> = {};
  const assert: Assertion[] = [];
  const metadata: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  const test: Record<string, unknown> = { vars, assert, metadata, options };
  const thresholds = new Map<number, number>();
  for (const [name, value] of Object.entries(row)) {
    const key = name.trim();
    if (key.startsWith('__expected')) {
      if (value.trim() !== '') assert.push(placed({ ...readAssertionText(value.trim()) }, place));
    } else if (key === '__prefix') options.prefix = value;
    else if (key === '__suffix') options.suffix = value;
    else if (key === '__description') test.description = value;
    else if (key === '__providerOutput') test.providerOutput = value;
    else if (key === '__threshold') {
      if (NUMBER.test(value.trim())) test.threshold = Number(value.trim());
    } else if (key.startsWith('__metadata:')) {
      const field = key.slice('__metadata:'.length);
      if (value.trim() !== '')
        metadata[field.replace(/\[\]$/, '')] = field.endsWith('[]')
          ? value.split(/(?<!\\),/).map((item) => item.trim().replaceAll('\\,', ','))
          : value;
    } else if (key.startsWith('__config:')) {
      const found = /^__config:__expected(\d*):threshold$/.exec(key);
      if (found !== null && NUMBER.test(value.trim()))
        thresholds.set(found[1] ? Number(found[1]) - 1 : 0, Number(value));
    } else if (key !== '__metric' && key !== '__metadata') vars[key] = value;
  }
  for (const [i, threshold] of thresholds)
    if (assert[i] !== undefined) assert[i] = placed({ ...assert[i], threshold }, place);
  return placed(test, place);
}

/** Merges a test with the defaults and its scenario. The default assertions come first. */
function mergeTest(defaults: Vars, layers: readonly Vars[], root: Place): Test {
  const last = layers.at(-1)!;
  const merged = Object.assign({}, defaults, ...layers) as Vars;
  const spread = (key: string): Vars =>
    Object.assign({}, ...[defaults, ...layers].map((layer) => map(layer[key]))) as Vars;
  const options = spread('options');
  return {
    place: placeOf(last, placeOf(layers[0], root)),
    description: typeof merged.description === 'string' ? merged.description : undefined,
    vars: spread('vars'),
    assert: [
      ...(options.disableDefaultAsserts === true ? [] : list(defaults.assert)),
      ...layers.flatMap((layer) => list(layer.assert)),
    ],
    threshold: merged.threshold,
    options,
    metadata: spread('metadata'),
    scoring: merged.assertScoringFunction,
    providerOutput: merged.providerOutput,
    prompts: merged.prompts,
    providers: merged.providers,
    provider: layers
      .map((layer) => layer.provider)
      .findLast((one) => one !== undefined && one !== null),
  };
}

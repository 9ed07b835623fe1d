import { z } from 'zod';
import { didYouMean } from '../kit/did-you-mean.ts';
import type { Problem, ProblemSink } from '../kit/problems.ts';
import { keyPlace, nodeAt, placeAt, toPlain, type YamlEntry, type YamlNode, type YamlPlace } from '../kit/yaml-node.ts';
import { resolvePlain } from '../kit/yaml-scalar.ts';
import { unknownKeyHint } from './known-keys.ts';
import { choicesOf, describeShapes, type JsonShape, joinOr, keysOf, shapesAt, showValue } from './schema-words.ts';
import { emptyKey, isBroken, isNull } from './value-check.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** What a schema did not express as a choice of its own words starts like this; anything else was written for people. */
const STOCK_MESSAGE = /^(?:Invalid|Too small|Too big|Unrecognized|Expected|Required)/;

const MAX_WORD = 100;

/** Most schemas see a handful of values, so compiling them costs more time than it saves. */
const INTERPRETED = { jitless: true } as const;

const shapes = new WeakMap<z.ZodType, JsonShape>();

/** A schema as JSON Schema; made only when something is wrong, then kept. */
function shapeOf(schema: z.ZodType): JsonShape {
  let shape = shapes.get(schema);
  if (shape === undefined) {
    shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonShape;
    shapes.set(schema, shape);
  }
  return shape;
}

/** Checks one value with zod and reports what is wrong, where. True when nothing is. */
export function explainValue(entry: YamlEntry, schema: z.ZodType, problems: ProblemSink): boolean {
  const { value: node, key } = entry;
  if (isBroken(node)) return false;
  if (isNull(node)) {
    problems.add(keyPlace(entry), emptyKey(key));
    return false;
  }
  const result = schema.safeParse(toPlain(node), INTERPRETED);
  if (result.success) return true;
  const check = new ValueCheck(key, node, schema, problems);
  for (const issue of result.error.issues) check.report(issue, []);
  return false;
}

class ValueCheck {
  readonly #key: string;
  readonly #node: YamlNode;
  readonly #schema: z.ZodType;
  readonly #problems: ProblemSink;

  constructor(key: string, node: YamlNode, schema: z.ZodType, problems: ProblemSink) {
    this.#key = key;
    this.#node = node;
    this.#schema = schema;
    this.#problems = problems;
  }

  report(issue: Issue, parent: Path): void {
    const path = [...parent, ...issue.path];
    const node = nodeAt(this.#node, toYamlPath(path));
    if (node !== undefined && isBroken(node)) return;
    switch (issue.code) {
      case 'unrecognized_keys':
        for (const key of issue.keys) this.#unknownKey(path, key);
        return;
      case 'invalid_union':
        this.#union(issue, path, node);
        return;
      case 'invalid_key':
      case 'invalid_element':
        for (const inner of issue.issues) this.#keyIssue(inner, path);
        return;
      default:
        this.#add(path, node === undefined ? this.#missing(path) : this.#problem(issue, path, node));
    }
  }

  #problem(issue: Issue, path: Path, node: YamlNode): Problem {
    const value = toPlain(node);
    const found = shapesAt(shapeOf(this.#schema), path);
    const name = this.#name(path);
    const hint = STOCK_MESSAGE.test(issue.message) ? undefined : issue.message;
    if (issue.code === 'custom')
      return { code: issue.params?.code ?? 'SPEC_VALUE', message: `${name}: ${issue.message}` };
    if (value === null) return { code: 'SPEC_EMPTY', message: `${name} has no value` };
    const expected = `${name} must be ${describeShapes(found)}, not ${showValue(value)}`;
    switch (issue.code) {
      case 'invalid_type':
        return { code: 'SPEC_TYPE', message: expected, hint: hint ?? typeHint(found, value, node) };
      case 'invalid_value':
        return this.#choice(name, choicesOf(found), value);
      case 'too_small':
      case 'too_big':
        return isEmpty(value)
          ? { code: 'SPEC_EMPTY', message: `${name} is empty`, hint: hint ?? this.#emptyHint(path) }
          : { code: 'SPEC_RANGE', message: rangeMessage(issue, name, value, expected), hint };
      case 'invalid_format':
        return isEmpty(value)
          ? { code: 'SPEC_EMPTY', message: `${name} is blank` }
          : { code: 'SPEC_FORMAT', message: `${name} cannot be ${showValue(value)}`, hint };
      default:
        return { code: 'SPEC_TYPE', message: expected, hint };
    }
  }

  #choice(name: string, choices: readonly unknown[], value: unknown): Problem {
    const words = choices.map(String);
    const near = typeof value === 'string' ? didYouMean(value, words) : undefined;
    const list = joinOr(choices.map((choice) => JSON.stringify(choice)));
    return {
      code: 'SPEC_CHOICE',
      message: `${name} must be ${list}, not ${showValue(value)}`,
      hint: near === undefined ? undefined : `did you mean "${near}"?`,
    };
  }

  /** Of the branches, one whose type fits says best what is wrong; when none fits, the value is of the wrong type. */
  #union(issue: Extract<Issue, { code: 'invalid_union' }>, path: Path, node: YamlNode | undefined): void {
    if (node === undefined) {
      const at = path.slice(0, -1);
      this.#add(at, this.#missing(path));
      return;
    }
    const fitting = issue.errors.filter(
      (branch) => !branch.some((inner) => inner.path.length === 0 && isTypeIssue(inner)),
    );
    const best = fitting.toSorted((a, b) => a.length - b.length)[0];
    if (best !== undefined) {
      for (const inner of best) this.report(inner, path);
      return;
    }
    const found = shapesAt(shapeOf(this.#schema), path);
    const value = toPlain(node);
    const choices = choicesOf(found);
    if (choices.length === found.length && choices.length > 0)
      this.#add(path, this.#choice(this.#name(path), choices, value));
    else {
      const message = `${this.#name(path)} must be ${describeShapes(found)}, not ${showValue(value)}`;
      this.#add(path, { code: 'SPEC_TYPE', message, hint: typeHint(found, value, node) });
    }
  }

  #keyIssue(issue: Issue, path: Path): void {
    const hint = STOCK_MESSAGE.test(issue.message) ? undefined : issue.message;
    const message = `${this.#name(path)} cannot be named so`;
    this.#problems.add(placeAt(this.#node, toYamlPath(path), 'key'), { code: 'SPEC_FORMAT', message, hint });
  }

  #unknownKey(path: Path, key: string): void {
    const allowed = keysOf(shapesAt(shapeOf(this.#schema), path));
    this.#problems.add(placeAt(this.#node, toYamlPath([...path, key]), 'key'), {
      code: 'SPEC_UNKNOWN_KEY',
      message: `${this.#name(path)} has no key "${key}"`,
      hint: unknownKeyHint(key, allowed),
    });
  }

  /** A check is empty as a whole; a list inside a runner or a judge is a setting, which checks nothing either way. */
  #emptyHint(path: Path): string {
    return path.length === 0 ? 'a check of nothing cannot fail' : 'list at least one, or remove the key';
  }

  #missing(path: Path): Problem {
    return { code: 'SPEC_REQUIRED', message: `${this.#name(path.slice(0, -1))} needs "${String(path.at(-1))}"` };
  }

  #add(path: Path, problem: Problem): void {
    const place: YamlPlace = placeAt(this.#node, toYamlPath(path));
    this.#problems.add(place, problem);
  }

  #name(path: Path): string {
    let name = this.#key;
    for (const step of path) name += typeof step === 'number' ? `[${step}]` : `.${String(step)}`;
    return `"${name}"`;
  }
}

const isTypeIssue = (issue: Issue): boolean =>
  issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union';

const isEmpty = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.trim() === ''
    : typeof value === 'object' && value !== null && Object.keys(value).length === 0;

function rangeMessage(
  issue: Extract<Issue, { code: 'too_small' | 'too_big' }>,
  name: string,
  value: unknown,
  expected: string,
): string {
  if (typeof value === 'number') return expected;
  const unit = typeof value === 'string' ? 'characters' : 'items';
  const [word, limit] = issue.code === 'too_big' ? ['at most', issue.maximum] : ['at least', issue.minimum];
  return `${name} must have ${word} ${limit} ${unit}`;
}

function typeHint(found: readonly { readonly type?: unknown }[], value: unknown, node: YamlNode): string | undefined {
  const wants = (type: string): boolean => found.some((shape) => shape.type === type);
  if (wants('array') && !Array.isArray(value)) return 'write it as a list: put it in brackets, or start it with a dash';
  if (wants('string') && ['number', 'boolean'].includes(typeof value))
    return `put it in quotes: "${asWritten(node, value)}"`;
  if (
    (wants('integer') || wants('number')) &&
    typeof value === 'string' &&
    value.trim() !== '' &&
    Number.isFinite(Number(value))
  ) {
    return `remove the quotes: ${value.trim()}`;
  }
  return undefined;
}

/** `1.50` and `007` are other texts than the numbers they are read as. */
function asWritten({ source, start }: YamlNode, value: unknown): string {
  const word = /^[^\s,[\]{}]+/.exec(source.text.slice(start, start + MAX_WORD))?.[0];
  return word !== undefined && resolvePlain(word) === value ? word : String(value);
}

const toYamlPath = (path: Path): (string | number)[] =>
  path.map((step) => (typeof step === 'number' ? step : String(step)));

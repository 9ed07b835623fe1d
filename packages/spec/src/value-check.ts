import type { Problem, ProblemSink } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import type { ValueDef, ValueSchema } from '@agentci/lib/values';
import {
  bestBranch,
  choicesOf,
  describeDefs,
  joinOr,
  keysOf,
  schemasAt,
  showValue,
  type ValueIssue,
  type ValuePath,
  valueIssues,
} from '@agentci/lib/values';
import {
  keyPlace,
  nodeAt,
  placeAt,
  resolvePlain,
  toPlain,
  type YamlEntry,
  type YamlNode,
} from '@agentci/lib/yaml';
import { unknownKeyHint } from './keys.ts';

const MAX_WORD = 100;

/**
 * Checks one value against its schema and reports problems with their places. True if there are
 * none.
 */
export function checkValue(
  entry: YamlEntry,
  schema: ValueSchema,
  problems: ProblemSink,
  /** The value, for callers that already have it. */
  value: unknown = toPlain(entry.value),
): boolean {
  const { value: node, key } = entry;
  if (isBroken(node)) return false;
  if (isNull(node)) {
    problems.add(keyPlace(entry), emptyKey(key));
    return false;
  }
  const issues = valueIssues(schema, value);
  const check = new ValueCheck(key, node, schema, problems);
  for (const issue of issues) check.report(issue);
  return issues.length === 0;
}

export const isBroken = (node: YamlNode): boolean => node.kind === 'scalar' && node.broken === true;
export const isNull = (node: YamlNode): boolean =>
  node.kind === 'scalar' && node.value === null && node.broken !== true;

export const emptyKey = (key: string): Problem => ({
  code: 'SPEC_EMPTY',
  message: `"${key}" has no value`,
  hint: 'write its value after the colon, or indent it below. Remove the key if it is not needed',
});

class ValueCheck {
  readonly #key: string;
  readonly #node: YamlNode;
  readonly #schema: ValueSchema;
  readonly #problems: ProblemSink;

  constructor(key: string, node: YamlNode, schema: ValueSchema, problems: ProblemSink) {
    this.#key = key;
    this.#node = node;
    this.#schema = schema;
    this.#problems = problems;
  }

  report(issue: ValueIssue): void {
    const { path } = issue;
    const node = nodeAt(this.#node, path);
    if (node !== undefined && isBroken(node)) return;
    if (issue.kind === 'unknown_key') this.#unknownKey(path, issue.key);
    else if (issue.kind === 'bad_key') this.#badKey(issue);
    else if (issue.kind === 'missing' || node === undefined) this.#add(path, this.#missing(path));
    else if (issue.kind === 'union') this.#union(issue, node);
    else this.#add(path, this.#problem(issue, node));
  }

  #problem(issue: ValueIssue, node: YamlNode): Problem {
    const { path, words: hint } = issue;
    const value = toPlain(node);
    const found = schemasAt(this.#schema, path);
    const name = this.#name(path);
    if (issue.kind === 'custom')
      return { code: issue.code ?? 'SPEC_VALUE', message: `${name}: ${issue.words}` };
    if (value === null) return { code: 'SPEC_EMPTY', message: `${name} has no value` };
    const expected = `${name} must be ${describeDefs(found)}, not ${showValue(value)}`;
    switch (issue.kind) {
      case 'choice':
        return this.#choice(name, choicesOf(found), value);
      case 'too_small':
      case 'too_big':
        return isEmpty(value)
          ? { code: 'SPEC_EMPTY', message: `${name} is empty`, hint: hint ?? this.#emptyHint(path) }
          : { code: 'SPEC_VALUE', message: rangeMessage(issue, name, value, expected), hint };
      case 'format':
        return isEmpty(value)
          ? { code: 'SPEC_EMPTY', message: `${name} is blank` }
          : { code: 'SPEC_VALUE', message: `${name} cannot be ${showValue(value)}`, hint };
      default:
        return {
          code: 'SPEC_VALUE',
          message: expected,
          hint: hint ?? typeHint(found, value, node),
        };
    }
  }

  #choice(name: string, choices: readonly unknown[], value: unknown): Problem {
    const words = choices.map(String);
    const near = typeof value === 'string' ? didYouMean(value, words) : undefined;
    const list = joinOr(choices.map((choice) => JSON.stringify(choice)));
    return {
      code: 'SPEC_VALUE',
      message: `${name} must be ${list}, not ${showValue(value)}`,
      hint: near === undefined ? undefined : `did you mean "${near}"?`,
    };
  }

  /** If no branch matches, the value has the wrong type. */
  #union({ path, branches }: Extract<ValueIssue, { kind: 'union' }>, node: YamlNode): void {
    const best = bestBranch(branches, path);
    if (best !== undefined) {
      for (const issue of best) this.report(issue);
      return;
    }
    const found = schemasAt(this.#schema, path);
    const value = toPlain(node);
    const choices = choicesOf(found);
    if (found.every(({ kind }) => kind === 'enum'))
      this.#add(path, this.#choice(this.#name(path), choices, value));
    else {
      const message = `${this.#name(path)} must be ${describeDefs(found)}, not ${showValue(value)}`;
      this.#add(path, { code: 'SPEC_VALUE', message, hint: typeHint(found, value, node) });
    }
  }

  #badKey({ path, words: hint }: ValueIssue): void {
    const message = `${this.#name(path)} cannot be named so`;
    this.#problems.add(placeAt(this.#node, path, 'key'), { code: 'SPEC_VALUE', message, hint });
  }

  #unknownKey(path: ValuePath, key: string): void {
    const allowed = keysOf(schemasAt(this.#schema, path));
    // A key of one form next to the key of another.
    const isElsewhere = allowed.includes(key);
    this.#problems.add(placeAt(this.#node, [...path, key], 'key'), {
      code: 'SPEC_UNKNOWN_KEY',
      message: `${this.#name(path)} ${isElsewhere ? `cannot have "${key}" next to its other keys` : `has no key "${key}"`}`,
      hint: isElsewhere ? 'leave out one of them' : unknownKeyHint(key, allowed),
    });
  }

  /**
   * An empty check is reported as a whole. An empty list in a runner or a judge is a setting, which
   * checks nothing anyway.
   */
  #emptyHint(path: ValuePath): string {
    return path.length === 0
      ? 'a check of nothing cannot fail'
      : 'list at least one, or remove the key';
  }

  #missing(path: ValuePath): Problem {
    return {
      code: 'SPEC_REQUIRED',
      message: `${this.#name(path.slice(0, -1))} needs "${String(path.at(-1))}"`,
    };
  }

  #add(path: ValuePath, problem: Problem): void {
    this.#problems.add(placeAt(this.#node, path), problem);
  }

  #name(path: ValuePath): string {
    let name = this.#key;
    for (const step of path) name += typeof step === 'number' ? `[${step}]` : `.${String(step)}`;
    return `"${name}"`;
  }
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.trim() === ''
    : typeof value === 'object' && value !== null && Object.keys(value).length === 0;

function rangeMessage(
  { kind, limit }: Extract<ValueIssue, { limit: number }>,
  name: string,
  value: unknown,
  expected: string,
): string {
  if (typeof value === 'number') return expected;
  const unit = typeof value === 'string' ? 'characters' : 'items';
  return `${name} must have ${kind === 'too_big' ? 'at most' : 'at least'} ${limit} ${unit}`;
}

function typeHint(found: readonly ValueDef[], value: unknown, node: YamlNode): string | undefined {
  const wants = (kind: ValueDef['kind']): boolean => found.some((def) => def.kind === kind);
  if (wants('array') && !Array.isArray(value))
    return 'write it as a list: put it in brackets, or start it with a dash';
  if (wants('string') && ['number', 'boolean'].includes(typeof value))
    return `put it in quotes: "${asWritten(node, value)}"`;
  if (
    wants('number') &&
    typeof value === 'string' &&
    value.trim() !== '' &&
    Number.isFinite(Number(value))
  ) {
    return `remove the quotes: ${value.trim()}`;
  }
  return undefined;
}

/** `1.50` and `007` are different texts from the numbers they parse to. */
function asWritten({ source, start }: YamlNode, value: unknown): string {
  const word = /^[^\s,[\]{}]+/.exec(source.text.slice(start, start + MAX_WORD))?.[0];
  return word !== undefined && resolvePlain(word) === value ? word : String(value);
}

import {
  onlySlot,
  parseTemplate,
  renderTemplate,
  slotsOf,
  type Template,
  type TemplateSlot,
} from '@agentci/lib/text';
import type { ValueSchema } from '@agentci/lib/values';
import { valueIssues } from '@agentci/lib/values';
import {
  setOwn,
  toPlain,
  type YamlEntry,
  type YamlNode,
  type YamlPlace,
  type YamlScalar,
  type YamlScalarValue,
} from '@agentci/lib/yaml';
import type { SpecProblems } from './problems.ts';

/** The variables in scope of one query. */
export interface Scope {
  readonly get: (name: string) => unknown;
  /** The value is text from a CSV file, converted as the key requires. */
  readonly isText: (name: string) => boolean;
}

/** A text with variables, and the place of its node. */
export interface VariableText {
  readonly node: YamlScalar;
  readonly slots: readonly TemplateSlot[];
  /** Variables that a backslash makes plain text. */
  readonly escaped: readonly TemplateSlot[];
}

/** An entry with variables. `fill` returns the entry for one set of values. */
export interface VariableEntry {
  readonly entry: YamlEntry;
  readonly texts: readonly VariableText[];
  readonly fill: (scope: Scope) => YamlEntry;
}

/**
 * Texts under these keys are patterns. A value must match itself, so its characters are escaped.
 */
const isPattern = (key: string): boolean =>
  key === 'regex' || key === 'pattern' || /(?:^|_)regex(?:_|$)/.test(key);
/** Texts under these keys are executed, and values are never executed. */
const isCode = (key: string): boolean => key === 'expr' || key === 'code';

type Fill = (scope: Scope) => YamlNode;

/** Finds the variables of an entry and reports errors in them. Undefined if there are none. */
export function findVariables(entry: YamlEntry, problems: SpecProblems): VariableEntry | undefined {
  const texts: VariableText[] = [];
  const finder = new Finder(texts, problems);
  const fill = finder.find(entry.value, entry.key);
  return fill === undefined
    ? undefined
    : { entry, texts, fill: (scope) => ({ ...entry, value: fill(scope) }) };
}

class Finder {
  readonly #texts: VariableText[];
  readonly #problems: SpecProblems;

  constructor(texts: VariableText[], problems: SpecProblems) {
    this.#texts = texts;
    this.#problems = problems;
  }

  /** `key` is the nearest key above the node. */
  find(node: YamlNode, key: string): Fill | undefined {
    if (node.kind === 'scalar') return this.#scalar(node, key);
    if (node.kind === 'seq') {
      const fills = node.items.map((item) => this.find(item, key));
      if (fills.every((fill) => fill === undefined)) return undefined;
      return (scope) => ({
        ...node,
        items: node.items.map((item, i) => fills[i]?.(scope) ?? item),
      });
    }
    const fills = new Map<string, Fill>();
    for (const [name, entry] of node.entries) {
      // Everything below executed code is executed too.
      const fill = this.find(entry.value, isCode(key) ? key : name);
      if (fill !== undefined) fills.set(name, fill);
    }
    if (fills.size === 0) return undefined;
    return (scope) => {
      const entries = new Map(node.entries);
      for (const [name, fill] of fills)
        entries.set(name, { ...entries.get(name)!, value: fill(scope) });
      return { ...node, entries };
    };
  }

  #scalar(node: YamlScalar, key: string): Fill | undefined {
    if (typeof node.value !== 'string' || node.broken === true) return undefined;
    const template = parseTemplate(node.value);
    if (template === undefined) return undefined;
    const slots = slotsOf(template);
    for (const { message, hint, start } of template.mistakes)
      this.#problems.add(slotPlace(node, start), { code: 'SPEC_VARIABLE', message, hint });
    if (isCode(key) && slots.length > 0) {
      const { name, start } = slots[0]!;
      this.#problems.add(slotPlace(node, start), {
        code: 'SPEC_VARIABLE',
        message: `a variable cannot be put into "${key}", since values are never run`,
        hint: `read it there: vars${/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}`,
      });
    }
    this.#texts.push({ node, slots, escaped: template.escaped });
    return fillScalar(node, template, isPattern(key));
  }
}

function fillScalar(node: YamlScalar, template: Template, isRegex: boolean): Fill {
  const only = onlySlot(template);
  if (only === undefined || isRegex || only.isJson) {
    const encode = isRegex ? escapeRegex : undefined;
    return ({ get }) => textNode(node, renderTemplate(template, get, encode));
  }
  return ({ get, isText }) => {
    const value = get(only.name);
    if (typeof value === 'string' && isText(only.name))
      return { ...textNode(node, value), isRowText: true };
    return nodeOf(value, node);
  };
}

const textNode = ({ source, start }: YamlPlace, value: YamlScalarValue): YamlScalar => ({
  kind: 'scalar',
  source,
  start,
  style: 'quoted',
  value,
});

/** A value as a node at a place. */
export function nodeOf(value: unknown, place: YamlPlace): YamlNode {
  const { source, start } = place;
  if (Array.isArray(value))
    return { kind: 'seq', source, start, items: value.map((item) => nodeOf(item, place)) };
  if (typeof value !== 'object' || value === null) return textNode(place, value as YamlScalarValue);
  const entries = new Map<string, YamlEntry>();
  for (const [key, item] of Object.entries(value))
    entries.set(key, { key, keySource: source, keyStart: start, value: nodeOf(item, place) });
  return { kind: 'map', source, start, entries };
}

/**
 * Escapes every character with a meaning in patterns, including dashes in classes and spaces in
 * lines.
 */
const escapeRegex = (text: string): string =>
  text
    .replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');

/** The place of a slot's braces. Escapes and indentation move them, but keep their order. */
export function slotPlace({ source, start, value }: YamlScalar, at: number): YamlPlace {
  const text = String(value);
  let place = source.text.indexOf('{{', start);
  for (let seen = text.indexOf('{{'); seen !== -1 && seen < at; seen = text.indexOf('{{', seen + 2))
    place = place === -1 ? -1 : source.text.indexOf('{{', place + 2);
  return { source, start: place === -1 ? start : place };
}

/** Merges variables without access to prototypes. */
export function mergeVars(
  ...all: readonly (Readonly<Record<string, unknown>> | undefined)[]
): Readonly<Record<string, unknown>> {
  const merged: Record<string, unknown> = {};
  for (const vars of all)
    if (vars !== undefined) for (const name of Object.keys(vars)) setOwn(merged, name, vars[name]);
  return merged;
}

/**
 * Converts texts of a CSV file as their key requires: if the key expects a number, a boolean, a
 * list or a map and the text is JSON for one, it is parsed. A text that the key accepts stays
 * unchanged, even `007`.
 */
export function fitTexts(schema: ValueSchema, node: YamlNode): YamlNode {
  return hasRowText(node) ? fitNode(schema, node) : node;
}

const isValid = (schema: ValueSchema, value: unknown): boolean =>
  valueIssues(schema, value).length === 0;

function hasRowText(node: YamlNode): boolean {
  if (node.kind === 'scalar') return node.isRowText === true;
  if (node.kind === 'seq') return node.items.some(hasRowText);
  return [...node.entries.values()].some(({ value }) => hasRowText(value));
}

function fitNode(schema: ValueSchema, node: YamlNode): YamlNode {
  if (node.kind === 'scalar')
    return node.isRowText === true ? fitText(schema, node, String(node.value)) : node;
  const { def } = schema;
  switch (def.kind) {
    case 'array':
      return node.kind === 'seq' ? withItems(node, () => def.item) : node;
    case 'tuple':
      return node.kind === 'seq' ? withItems(node, (i) => def.items[i]) : node;
    case 'object':
      return node.kind === 'map'
        ? withEntries(node, (key) => {
            if (Object.hasOwn(def.shape, key)) return def.shape[key];
            return typeof def.others === 'object' ? def.others : undefined;
          })
        : node;
    case 'record':
      return node.kind === 'map' ? withEntries(node, () => def.value) : node;
    case 'union': {
      const fitted = def.options.map((option) => fitNode(option, node));
      return fitted.find((each, i) => isValid(def.options[i]!, toPlain(each))) ?? node;
    }
    case 'optional':
    case 'nullable':
    case 'default':
    case 'refined':
    case 'when':
      return fitNode(def.inner, node);
    default:
      return node;
  }
}

function fitText(schema: ValueSchema, node: YamlNode, text: string): YamlNode {
  if (isValid(schema, text)) return node;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return node;
  }
  return isValid(schema, value) || typeof value === 'number' ? nodeOf(value, node) : node;
}

function withItems(
  node: YamlNode & { kind: 'seq' },
  schemaOf: (i: number) => ValueSchema | undefined,
): YamlNode {
  const items = node.items.map((item, i) => {
    const schema = schemaOf(i);
    return schema === undefined ? item : fitNode(schema, item);
  });
  return { ...node, items };
}

function withEntries(
  node: YamlNode & { kind: 'map' },
  schemaOf: (key: string) => ValueSchema | undefined,
): YamlNode {
  const entries = new Map<string, YamlEntry>();
  for (const [key, entry] of node.entries) {
    const schema = schemaOf(key);
    entries.set(
      key,
      schema === undefined ? entry : { ...entry, value: fitNode(schema, entry.value) },
    );
  }
  return { ...node, entries };
}

const MAX_NAME = 100;

/** The reason why a variable name is invalid. */
export function variableNameProblem(name: string, what: string): string | undefined {
  if (name.trim() === '') return `${what} needs a name`;
  if (name !== name.trim() || /[{}|\r\n]/.test(name))
    return `${what} cannot be named ${JSON.stringify(name.slice(0, 40))}: spaces at the ends, braces and bars do not fit between {{ and }}`;
  return name.length > MAX_NAME
    ? `the name of ${what} has at most ${MAX_NAME} characters`
    : undefined;
}

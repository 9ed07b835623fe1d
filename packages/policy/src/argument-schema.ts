import { isObject } from '@agentci/lib/data';
import type { Problems } from '@agentci/lib/problems';
import {
  keyPlace,
  locate,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlPlace,
} from '@agentci/lib/yaml';
import {
  type ArgumentSchema,
  joined,
  keywordCheck,
  mapCheck,
  type RestCheck,
  type TypeCheck,
} from './argument-checks.ts';
import {
  type Constraint,
  type ConstraintPlace,
  type OnViolation,
  TYPES,
  type ValueCheck,
  type ValueType,
} from './constraint.ts';
import { shown, unknownHint } from './issue.ts';
import { KEYWORDS, membership } from './keywords.ts';

/** Keys that are only annotations. */
const NOTES = ['description', 'title', 'default', 'examples', 'deprecated', '$comment'];
const STRUCTURE = [
  'type',
  'required',
  'required_if',
  'items',
  'properties',
  'additionalProperties',
  'on_violation',
  '$ref',
];
const KNOWN = [...STRUCTURE, ...KEYWORDS.keys(), ...NOTES];
const MODES: readonly OnViolation[] = ['block', 'warn', 'log'];
const MAX_DEPTH = 64;

export interface CompileContext {
  readonly problems: Problems;
  /**
   * `policy`: a keyword implies its type, and a keyword without effect is an error. `json-schema`:
   * a keyword ignores other types, as in the standard.
   */
  readonly dialect: 'policy' | 'json-schema';
  /** The target of a `$ref`. Undefined if it does not exist, which has already been reported. */
  readonly resolve: (ref: YamlEntry) => YamlNode | undefined;
}

/** Compiles argument schemas, each definition once, however often it is referenced. */
export class ArgumentCompiler {
  readonly #context: CompileContext;
  readonly #known = new Map<YamlNode, Map<OnViolation, ArgumentSchema | undefined>>();
  readonly #open = new Set<YamlNode>();

  constructor(context: CompileContext) {
    this.#context = context;
  }

  /** The schema of one value. Undefined after a reported error. */
  value(node: YamlNode, inherited: OnViolation): ArgumentSchema | undefined {
    const modes = this.#known.get(node);
    if (modes?.has(inherited)) return modes.get(inherited);
    if (this.#open.has(node)) {
      this.#add(
        node,
        'POLICY_SCHEMA',
        'this schema leads back to itself',
        'break the circle of $ref',
      );
      return undefined;
    }
    if (this.#open.size >= MAX_DEPTH) {
      this.#add(node, 'POLICY_VALUE', `schemas nest deeper than ${MAX_DEPTH} levels`);
      return undefined;
    }
    this.#open.add(node);
    const schema = this.#compile(node, inherited);
    this.#open.delete(node);
    if (modes === undefined) this.#known.set(node, new Map([[inherited, schema]]));
    else modes.set(inherited, schema);
    return schema;
  }

  /** The schema of a map of values, as in `arguments` and `properties`. */
  map(options: {
    readonly properties: YamlNode | undefined;
    readonly required: YamlEntry | undefined;
    readonly additional: YamlEntry | undefined;
    readonly onViolation: OnViolation;
    readonly name: string;
  }): Constraint | undefined {
    const { onViolation } = options;
    const rest = this.#additional(options.additional, onViolation);
    const members = this.#members(options, rest?.isClosed === true);
    const required = this.#required(options.required);
    if (rest === undefined || members === undefined || required === undefined) return undefined;
    const decides =
      rest.decides ||
      required.length > 0 ||
      [...members.values()].some((m) => m.decides || m.required || m.requiredIf);
    return { decides, check: mapCheck({ members, required, rest, onViolation }) };
  }

  #compile(node: YamlNode, inherited: OnViolation): ArgumentSchema | undefined {
    if (node.kind !== 'map') {
      if (node.kind !== 'scalar' || node.broken !== true)
        this.#add(
          node,
          'POLICY_VALUE',
          `the schema of an argument must be a map such as {type: string}, not ${shown(toPlain(node))}`,
        );
      return undefined;
    }
    const whole = this.#withReference(node);
    if (whole === undefined) return undefined;
    const before = this.#context.problems.errors;
    for (const entry of whole.entries.values()) {
      if (KNOWN.includes(entry.key)) continue;
      const hint = unknownHint(entry.key, KNOWN, 'the keywords');
      this.#add(keyPlace(entry), 'POLICY_UNKNOWN_KEY', `unknown keyword "${entry.key}"`, hint);
    }
    const onViolation = this.#mode(whole.entries.get('on_violation'), inherited);
    const types = this.#types(whole);
    const keywords = this.#keywords(whole, types?.given, onViolation);
    const nested = this.#nested(whole, types?.given, onViolation);
    const { required, requiredIf } = this.#presence(whole);
    if (this.#context.problems.errors > before || types === undefined) return undefined;
    const checks = [...keywords.checks, ...nested.checks];
    return {
      onViolation,
      decides: types.check !== undefined || keywords.decides || nested.decides,
      check: joined(types.check, checks, onViolation),
      required,
      requiredIf,
    };
  }

  /** Merges the target of a `$ref` with the keys next to it. */
  #withReference(node: YamlMap): YamlMap | undefined {
    const seen = new Set<YamlNode>();
    let current = node;
    for (
      let ref = current.entries.get('$ref');
      ref !== undefined;
      ref = current.entries.get('$ref')
    ) {
      const target = this.#context.resolve(ref);
      if (target === undefined) return undefined;
      if (target.kind !== 'map') {
        this.#add(ref.value, 'POLICY_SCHEMA', '"$ref" leads to something that is not a schema');
        return undefined;
      }
      if (seen.has(target) || this.#open.has(target)) {
        this.#add(ref.value, 'POLICY_SCHEMA', '"$ref" leads back to itself', 'break the circle');
        return undefined;
      }
      seen.add(target);
      const entries = new Map(target.entries);
      for (const [key, entry] of current.entries) if (key !== '$ref') entries.set(key, entry);
      current = { ...node, entries };
    }
    return current;
  }

  #mode(entry: YamlEntry | undefined, inherited: OnViolation): OnViolation {
    if (entry === undefined) return inherited;
    const mode = MODES.find((each) => each === toPlain(entry.value));
    if (mode === undefined)
      this.#add(
        entry.value,
        'POLICY_VALUE',
        `"on_violation" must be block, warn or log, not ${shown(toPlain(entry.value))}`,
      );
    return mode ?? inherited;
  }

  /**
   * The declared type, else the type that the keywords imply. Otherwise, "50" as text would pass
   * `max: 30`.
   */
  #types(node: YamlMap): { given: readonly ValueType[]; check?: TypeCheck } | undefined {
    const entry = node.entries.get('type');
    if (entry === undefined) {
      if (this.#context.dialect === 'json-schema') return { given: [] };
      const telling = [...node.entries.values()].find(({ key }) => impliedType(key) !== undefined);
      const implied = telling === undefined ? undefined : impliedType(telling.key);
      if (telling === undefined || implied === undefined) return { given: [] };
      return { given: [implied], check: { types: [implied], place: placeOf(telling) } };
    }
    const written = toPlain(entry.value);
    const names: readonly unknown[] = Array.isArray(written) ? written : [written];
    const given = names.filter((name): name is ValueType =>
      (TYPES as readonly unknown[]).includes(name),
    );
    if (given.length < names.length || given.length === 0) {
      const wrong = names.find((name) => !(TYPES as readonly unknown[]).includes(name));
      const hint = unknownHint(String(wrong), TYPES, 'the types');
      this.#add(entry.value, 'POLICY_VALUE', `unknown type ${shown(wrong)}`, hint);
      return undefined;
    }
    return { given, check: { types: given, place: placeOf(entry) } };
  }

  #keywords(node: YamlMap, types: readonly ValueType[] = [], mode: OnViolation) {
    const checks: ValueCheck[] = [];
    let decides = false;
    for (const entry of node.entries.values()) {
      const keyword = KEYWORDS.get(entry.key);
      if (keyword === undefined) continue;
      const written = toPlain(entry.value);
      const compiled = keyword.compile(written, entry.key);
      if (!compiled.ok) {
        this.#add(entry.value, compiled.code, compiled.message, compiled.hint);
        continue;
      }
      if (compiled.warning !== undefined)
        this.#context.problems.add(entry.value, {
          severity: 'warning',
          code: 'POLICY_CANNOT_FAIL',
          message: compiled.warning,
        });
      if (!this.#speaksOf(keyword.types, types, entry)) continue;
      decides ||= compiled.decides;
      checks.push(
        keywordCheck(compiled.test, `${entry.key}: ${plainText(written)}`, placeOf(entry), mode),
      );
    }
    return { checks, decides };
  }

  #nested(node: YamlMap, types: readonly ValueType[] = [], onViolation: OnViolation) {
    const checks: ValueCheck[] = [];
    let decides = false;
    const items = node.entries.get('items');
    if (items !== undefined && this.#speaksOf(['array'], types, items)) {
      const schema = this.value(items.value, onViolation);
      if (schema !== undefined) {
        decides ||= schema.decides;
        checks.push((value, at, sink) => {
          if (Array.isArray(value))
            for (let i = 0; i < value.length; i++) schema.check(value[i], `${at}[${i}]`, sink);
        });
      }
    }
    const properties = node.entries.get('properties');
    const required = node.entries.get('required');
    const list = required?.value.kind === 'seq' ? required : undefined;
    const additional = node.entries.get('additionalProperties');
    const telling = properties ?? list ?? additional;
    if (telling !== undefined && this.#speaksOf(['object'], types, telling)) {
      const schema = this.map({
        properties: properties?.value,
        required: list,
        additional,
        onViolation,
        name: 'properties',
      });
      if (schema !== undefined) {
        decides ||= schema.decides;
        checks.push(schema.check);
      }
    }
    return { checks, decides };
  }

  #speaksOf(wanted: readonly ValueType[], types: readonly ValueType[], entry: YamlEntry): boolean {
    if (wanted.length === 0 || types.length === 0 || types.some((type) => wanted.includes(type)))
      return true;
    if (this.#context.dialect === 'json-schema') return true;
    const message = `"${entry.key}" does not apply to a value of type ${types.join(' or ')}`;
    this.#add(
      keyPlace(entry),
      'POLICY_CANNOT_FAIL',
      message,
      `it is for ${wanted.join(' and ')} values`,
    );
    return false;
  }

  #presence(node: YamlMap): Pick<ArgumentSchema, 'required' | 'requiredIf'> {
    const presence: {
      required?: ConstraintPlace;
      requiredIf?: NonNullable<ArgumentSchema['requiredIf']>;
    } = {};
    const required = node.entries.get('required');
    const flag =
      required === undefined || required.value.kind === 'seq' ? undefined : toPlain(required.value);
    if (required !== undefined && flag === true) presence.required = placeOf(required);
    else if (required !== undefined && flag !== undefined && flag !== false)
      this.#add(
        required.value,
        'POLICY_VALUE',
        `"required" must be true, false or a list of names, not ${shown(flag)}`,
      );
    const entry = node.entries.get('required_if');
    if (entry === undefined) return presence;
    const condition = toPlain(entry.value);
    if (!isObject(condition) || Object.keys(condition).length === 0) {
      const hint = 'for example: required_if: {method: card}';
      this.#add(
        entry.value,
        'POLICY_VALUE',
        '"required_if" must be a map from other arguments to their values',
        hint,
      );
      return presence;
    }
    const tests = Object.entries(condition).map(
      ([name, wanted]) => [name, membership(Array.isArray(wanted) ? wanted : [wanted])] as const,
    );
    presence.requiredIf = {
      place: placeOf(entry),
      text: plainText(condition),
      applies: (siblings) =>
        tests.every(([name, test]) => Object.hasOwn(siblings, name) && test(siblings[name])),
    };
    return presence;
  }

  #members(
    {
      properties,
      onViolation,
      name,
    }: { properties: YamlNode | undefined; onViolation: OnViolation; name: string },
    isClosed: boolean,
  ): ReadonlyMap<string, ArgumentSchema> | undefined {
    const members = new Map<string, ArgumentSchema>();
    if (properties === undefined) return members;
    if (properties.kind !== 'map') {
      this.#add(properties, 'POLICY_VALUE', `"${name}" must be a map from names to schemas`);
      return undefined;
    }
    let isSound = true;
    for (const entry of properties.entries.values()) {
      const { key, value } = entry;
      const schema = this.value(value, onViolation);
      if (schema === undefined) isSound = false;
      else {
        members.set(key, schema);
        // In a closed map, the name alone has an effect.
        if (
          schema.decides ||
          schema.required !== undefined ||
          schema.requiredIf !== undefined ||
          isClosed
        )
          continue;
        if (this.#context.dialect === 'json-schema') continue;
        isSound = false;
        const hint = 'give it a type, or remove it';
        this.#add(keyPlace(entry), 'POLICY_CANNOT_FAIL', `nothing is asked of "${key}"`, hint);
      }
    }
    return isSound ? members : undefined;
  }

  #required(
    entry: YamlEntry | undefined,
  ): readonly { name: string; place: ConstraintPlace }[] | undefined {
    if (entry === undefined) return [];
    const names = toPlain(entry.value);
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
      this.#add(entry.value, 'POLICY_VALUE', '"required" must be a list of names');
      return undefined;
    }
    const place = placeOf(entry);
    return names.map((name) => ({ name, place }));
  }

  #additional(entry: YamlEntry | undefined, onViolation: OnViolation): RestCheck | undefined {
    if (entry === undefined) return { decides: false, isClosed: false };
    const { value } = entry;
    if (value.kind === 'scalar' && typeof value.value === 'boolean')
      return { decides: !value.value, isClosed: !value.value, place: placeOf(entry) };
    const schema = this.value(value, onViolation);
    return schema === undefined ? undefined : { decides: schema.decides, isClosed: false, schema };
  }

  #add(place: YamlPlace, code: string, message: string, hint?: string): void {
    this.#context.problems.add(place, { code, message, hint });
  }
}

function impliedType(key: string): ValueType | undefined {
  if (key === 'items') return 'array';
  if (key === 'properties' || key === 'additionalProperties') return 'object';
  return KEYWORDS.get(key)?.types[0];
}

function placeOf(entry: YamlEntry): ConstraintPlace {
  return locate(entry.keySource, entry.keyStart);
}

/** A limit as constraints print it: text unquoted, anything else as JSON. */
const plainText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

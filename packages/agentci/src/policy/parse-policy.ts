import type { Diagnostic } from '../kit/diagnostic.ts';
import { compileGlob, isGlob } from '../kit/glob.ts';
import { exactNameSlip, patternSlip } from '../kit/name-slip.ts';
import type { Problem } from '../kit/problem.ts';
import { Problems } from '../kit/problems.ts';
import { visibleName } from '../kit/visible-text.ts';
import { parseYaml } from '../kit/yaml.ts';
import {
  keyPlace,
  locate,
  nodeAt,
  placeAt,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlPlace,
} from '../kit/yaml-node.ts';
import { placeInside } from '../kit/yaml-offset.ts';
import { ArgumentCompiler } from './argument-schema.ts';
import { fromAssayForm, withLocalReferences } from './assay-form.ts';
import { type CompiledRule, compileRules } from './compile-rules.ts';
import type { ConstraintPlace, OnViolation } from './constraint.ts';
import { readFlows } from './flows/read-flows.ts';
import { shown, unknownHint } from './issue.ts';
import { compileToolSchema } from './json-tool-schema.ts';
import type { NamePattern, Policy, PolicyExample, ToolPolicy } from './policy.ts';
import { readExamples } from './read-examples.ts';
import { type ReadPolicyFile, References } from './references.ts';
import type { Aliases } from './selectors.ts';

export interface ParsePolicyOptions {
  /** The name used in diagnostics and violations. */
  readonly file?: string;
  /** Reads files that `$ref` names. */
  readonly readFile?: ReadPolicyFile;
  /** Unknown tools will fail, so that a policy which only names tools can fail too. */
  readonly strict?: boolean;
}

export interface ParsedPolicy {
  /** Absent when any diagnostic is an error. */
  readonly policy?: Policy;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a policy from YAML or JSON text. Never throws for what a user wrote. */
export function parsePolicy(text: string, options: ParsePolicyOptions = {}): ParsedPolicy {
  const { root, diagnostics } = parseYaml(text, { file: options.file ?? 'policy.yaml' });
  if (root === undefined || diagnostics.some(({ severity }) => severity === 'error')) return { diagnostics };
  const parsed = parsePolicyNode(root, options);
  const { policy } = parsed;
  return {
    ...(policy === undefined ? {} : { policy: { ...policy, sources: [text, ...policy.sources] } }),
    diagnostics: [...diagnostics, ...parsed.diagnostics],
  };
}

/** As `parsePolicy`, for a policy that is part of another document. */
export function parsePolicyNode(root: YamlNode, options: ParsePolicyOptions = {}): ParsedPolicy {
  const problems = new Problems('POLICY_TOO_MANY');
  const policy =
    root.kind === 'map'
      ? new PolicyReader(fromAssayForm(root, [...ROOT_KEYS, ...NOT_ENFORCED], problems), problems, options).read()
      : undefined;
  if (root.kind !== 'map')
    problems.add(root, { code: 'POLICY_TYPE', message: 'a policy is a map of keys', hint: 'start with "tools:"' });
  const diagnostics = problems.sorted();
  return policy === undefined || problems.errors > 0 ? { diagnostics } : { policy, diagnostics };
}

const ROOT_KEYS = [
  ...['version', 'name', 'description', 'tools', 'definitions', '$defs', 'schemas', 'enforcement', 'limits'],
  ...['aliases', 'sequences', 'rules', 'flows', 'blocklist', 'examples'],
];
const TOOL_KEYS = ['description', 'arguments', 'required', 'additionalProperties', 'on_violation'];
const LIMITS = ['max_tool_calls_total', 'max_requests_total'];
/** Keys of other Assay policies that a recording cannot be checked against: refused, since ignoring them would look like a pass. */
const NOT_ENFORCED = new Set([
  ...['signatures', 'tool_pins', 'discovery', 'runtime_monitor', 'kill_switch', 'on_error'],
  ...['allow_classes', 'deny_classes', 'approval_required', 'restrict_scope', 'redact_args'],
]);
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['allow', 'write it under "tools"'],
  ['deny', 'write it under "tools"'],
  ['constraints', 'write it as tools.<name>.arguments'],
  ['arg_constraints', 'write it as tools.<name>.arguments'],
  ['require_args', 'write it as "required: true" under tools.<name>.arguments'],
]);

class PolicyReader {
  readonly #root: YamlMap;
  readonly #problems: Problems;
  readonly #options: ParsePolicyOptions;
  readonly #references: References;
  readonly #compiler: ArgumentCompiler;
  #decides = false;
  #decidesCalls = false;

  constructor(root: YamlMap, problems: Problems, options: ParsePolicyOptions) {
    this.#root = root;
    this.#problems = problems;
    this.#options = options;
    this.#references = new References(root, problems, options.readFile);
    this.#compiler = new ArgumentCompiler({ problems, resolve: this.#references.resolve, dialect: 'policy' });
  }

  read(): Policy {
    const { entries } = this.#root;
    const type = entries.get('type');
    if (type !== undefined && entries.has('properties'))
      this.#fail(
        keyPlace(type),
        'POLICY_TYPE',
        'this is a JSON Schema of no tool',
        'put it under the name of its tool: schemas: {my_tool: {type: object, …}}',
      );
    else
      for (const entry of entries.values())
        if (!ROOT_KEYS.includes(entry.key)) this.#unknown(entry, 'a policy', ROOT_KEYS);
    for (const key of ['version', 'name', 'description']) this.#note(entries.get(key));
    const tools = this.#tools(entries.get('tools'));
    this.#schemas(entries.get('schemas'), tools.named);
    const unconstrained = this.#enforcement(entries.get('enforcement'));
    const limits = this.#limits(entries.get('limits'));
    const aliases = this.#aliases(entries.get('aliases'));
    const rules = [
      ...this.#rules(entries.get('sequences'), aliases),
      ...this.#rules(entries.get('rules'), aliases),
      ...this.#flows(entries.get('flows'), aliases),
    ];
    const blocklist = this.#patterns(entries.get('blocklist'), 'blocklist');
    const examples = this.#examples(entries.get('examples'));
    this.#decides ||= rules.length > 0 || blocklist.length > 0;
    if (!this.#decides && !this.#decidesCalls && this.#options.strict !== true && this.#problems.errors === 0) {
      this.#problems.add(this.#root, {
        code: 'POLICY_CANNOT_FAIL',
        message: 'the policy allows everything, so it cannot fail',
        hint: 'ask something of arguments (tools.<name>.arguments), deny tools, or add rules',
      });
    }
    const name = entries.get('name');
    const all = [...tools.named.values()];
    return {
      file: this.#root.source.file,
      ...(name === undefined ? {} : { name: String(toPlain(name.value)) }),
      tools: tools.named,
      toolGlobs: all.filter((tool) => isGlob(tool.name)).map((tool) => ({ matches: compileGlob(tool.name), tool })),
      ...(tools.allow === undefined ? {} : { allow: tools.allow.patterns, allowPlace: tools.allow.place }),
      deny: tools.deny,
      ...(unconstrained === undefined ? {} : { unconstrained }),
      limits,
      aliases,
      rules,
      blocklist,
      examples,
      sources: [...this.#references.texts, ...this.#texts],
      hasCallRules: this.#decidesCalls,
    };
  }

  #tools(entry: YamlEntry | undefined) {
    const named = new Map<string, ToolPolicy>();
    const none = { named, deny: [] as readonly NamePattern[], allow: undefined };
    if (entry === undefined) return none;
    if (entry.value.kind !== 'map') {
      this.#fail(entry.value, 'POLICY_TYPE', '"tools" must be a map from names of tools to what is asked of them');
      return none;
    }
    let deny: readonly NamePattern[] = [];
    let allow: { patterns: readonly NamePattern[]; place: ConstraintPlace } | undefined;
    for (const tool of entry.value.entries.values()) {
      const isList = tool.value.kind === 'seq';
      if (tool.key === 'deny' && isList) deny = this.#patterns(tool, 'deny');
      else if (tool.key === 'allow' && isList)
        allow = { patterns: this.#patterns(tool, 'allow'), place: placeOfKey(tool) };
      else if ((NOT_ENFORCED.has(tool.key) || ELSEWHERE.has(tool.key)) && !isTool(tool.value))
        this.#unknown(tool, '"tools"', []);
      else {
        this.#oddKey(tool);
        const read = this.#tool(tool);
        if (read !== undefined) named.set(visibleName(tool.key), read);
      }
    }
    this.#decidesCalls ||= deny.length > 0 || (allow !== undefined && !allow.patterns.some(({ text }) => text === '*'));
    return { named, deny, allow };
  }

  #tool(entry: YamlEntry): ToolPolicy | undefined {
    const { key, value } = entry;
    const place = placeOfKey(entry);
    if (value.kind === 'scalar' && value.value === null && value.broken !== true) {
      return { name: key, place, isJsonSchema: false };
    }
    if (value.kind !== 'map') {
      this.#fail(value, 'POLICY_TYPE', `"${key}" must be a map with "arguments"`);
      return undefined;
    }
    for (const each of value.entries.values())
      if (!TOOL_KEYS.includes(each.key)) this.#unknown(each, 'a tool', TOOL_KEYS);
    const mode = value.entries.get('on_violation');
    const written = mode === undefined ? undefined : toPlain(mode.value);
    if (mode !== undefined && written !== 'block' && written !== 'warn' && written !== 'log')
      this.#fail(mode.value, 'POLICY_CHOICE', `"on_violation" must be block, warn or log, not ${shown(written)}`);
    const onViolation = (written ?? 'block') as OnViolation;
    const schema = this.#compiler.map({
      properties: value.entries.get('arguments')?.value,
      required: value.entries.get('required'),
      additional: value.entries.get('additionalProperties'),
      onViolation,
      name: 'arguments',
    });
    if (schema?.decides !== true) return { name: key, place, isJsonSchema: false };
    this.#decidesCalls = true;
    return { name: key, place, isJsonSchema: false, schema };
  }

  #schemas(entry: YamlEntry | undefined, named: Map<string, ToolPolicy>): void {
    if (entry === undefined) return;
    if (entry.value.kind !== 'map') {
      this.#fail(entry.value, 'POLICY_TYPE', '"schemas" must be a map from names of tools to JSON Schemas');
      return;
    }
    const defs = entry.value.entries.get('$defs')?.value;
    const shared = defs?.kind === 'map' ? (withLocalReferences(defs) as YamlMap) : undefined;
    for (const tool of entry.value.entries.values()) {
      if (tool.key === '$defs') continue;
      if (named.get(visibleName(tool.key))?.schema !== undefined) {
        this.#fail(keyPlace(tool), 'POLICY_DUPLICATE', `"${tool.key}" has "arguments" under "tools" already`);
        continue;
      }
      const local = withLocalReferences(tool.value);
      const schema = compileToolSchema({ ...tool, value: local }, shared, this.#problems);
      if (schema === undefined) continue;
      this.#decidesCalls = true;
      this.#oddKey(tool);
      named.set(visibleName(tool.key), { name: tool.key, place: placeOfKey(tool), schema, isJsonSchema: true });
    }
  }

  #enforcement(entry: YamlEntry | undefined): Policy['unconstrained'] {
    const map = this.#map(entry);
    if (map === undefined) return undefined;
    for (const each of map.entries.values())
      if (each.key !== 'unconstrained_tools') this.#unknown(each, '"enforcement"', ['unconstrained_tools']);
    const mode = map.entries.get('unconstrained_tools');
    if (mode === undefined) return undefined;
    const written = toPlain(mode.value);
    if (written !== 'allow' && written !== 'warn' && written !== 'deny') {
      this.#fail(
        mode.value,
        'POLICY_CHOICE',
        `"unconstrained_tools" must be allow, warn or deny, not ${shown(written)}`,
      );
      return undefined;
    }
    this.#decidesCalls ||= written !== 'allow';
    return { mode: written, place: placeOfKey(mode) };
  }

  #limits(entry: YamlEntry | undefined): Policy['limits'] {
    const map = this.#map(entry);
    if (map === undefined) return [];
    return [...map.entries.values()].flatMap((each) => {
      if (!LIMITS.includes(each.key)) {
        this.#unknown(each, '"limits"', LIMITS);
        return [];
      }
      const max = toPlain(each.value);
      if (typeof max !== 'number' || !Number.isInteger(max) || max < 0) {
        this.#fail(each.value, 'POLICY_RANGE', `"${each.key}" must be a whole number of at least 0, not ${shown(max)}`);
        return [];
      }
      this.#decidesCalls = true;
      return [{ name: each.key, max, place: placeOfKey(each) }];
    });
  }

  #aliases(entry: YamlEntry | undefined): Aliases {
    const map = this.#map(entry);
    const aliases = new Map<string, readonly string[]>();
    for (const each of map?.entries.values() ?? []) {
      const names = toPlain(each.value);
      const list = typeof names === 'string' ? [names] : names;
      if (
        Array.isArray(list) &&
        list.length > 0 &&
        list.every((name) => typeof name === 'string' && name.trim() !== '')
      ) {
        for (const name of list as string[]) this.#slip(each.value, name);
        aliases.set(each.key, list as string[]);
      } else this.#fail(each.value, 'POLICY_TYPE', `"${each.key}" must be a list of tools`);
    }
    return aliases;
  }

  #rules(entry: YamlEntry | undefined, aliases: Aliases): readonly CompiledRule[] {
    if (entry === undefined) return [];
    const { value } = entry;
    const placeOf = (index: number): ConstraintPlace => {
      const { source, start } = placeAt(value, [index]);
      return locate(source, start);
    };
    const { rules, issues } = compileRules(toPlain(value), { aliases, placeOf, readFile: this.#readBeside });
    for (const issue of issues) this.#issue(value, issue);
    return rules;
  }

  #examples(entry: YamlEntry | undefined): readonly PolicyExample[] {
    if (entry === undefined) return [];
    const { value } = entry;
    const placeOf = (index: number): ConstraintPlace => {
      const { source, start } = placeAt(value, [index]);
      return locate(source, start);
    };
    return readExamples(toPlain(value), { placeOf, report: (issue) => this.#issue(value, issue) });
  }

  #flows(entry: YamlEntry | undefined, aliases: Aliases): readonly CompiledRule[] {
    if (entry === undefined) return [];
    const { value } = entry;
    const placeOf = (index: number): ConstraintPlace => {
      const { source, start } = placeAt(value, [index]);
      return locate(source, start);
    };
    return readFlows(toPlain(value), { aliases, placeOf, report: (issue) => this.#issue(value, issue) });
  }

  #issue(value: YamlNode, { path = [], part, offset, severity, code, message, hint }: Problem): void {
    const place = placeAt(value, path, part);
    const node = offset === undefined ? undefined : nodeAt(value, path);
    this.#problems.add(node === undefined ? place : placeInside(node, offset!), { severity, code, message, hint });
  }

  readonly #readBeside = (path: string): { ok: true; text: string } | { ok: false; message: string } => {
    const found = this.#options.readFile?.(path, this.#root.source.file);
    if (found === undefined) return { ok: false, message: `the file "${path}" cannot be read from here` };
    if (found.ok) this.#texts.push(found.text);
    return found;
  };
  readonly #texts: string[] = [];

  #patterns(entry: YamlEntry | undefined, name: string): readonly NamePattern[] {
    if (entry === undefined) return [];
    const { value } = entry;
    if (value.kind !== 'seq') {
      this.#fail(value, 'POLICY_TYPE', `"${name}" must be a list of tools`);
      return [];
    }
    if (value.items.length === 0) this.#fail(value, 'POLICY_CANNOT_FAIL', `"${name}" is empty, so it cannot fail`);
    return value.items.flatMap((item) => {
      if (item.kind === 'scalar' && typeof item.value === 'string' && item.value.trim() !== '') {
        this.#slip(item, item.value, `in "${name}" `);
        return [{ text: item.value, matches: compileGlob(item.value), place: locate(item.source, item.start) }];
      }
      // What stands for something reported already was meant to say something.
      if (item.kind === 'scalar' && item.broken === true) this.#decides = true;
      else
        this.#fail(
          item,
          'POLICY_TYPE',
          `an entry of "${name}" must be the name of a tool, not ${shown(toPlain(item))}`,
        );
      return [];
    });
  }

  /** Says what is wrong with a name of a tool. What was meant may well have decided something. */
  #slip(place: YamlPlace, name: string, where = ''): void {
    const slip = patternSlip(name);
    if (slip === undefined) return;
    this.#fail(place, 'POLICY_BAD_GLOB', `${shown(name)} ${where}matches no tool: ${slip.why}`, slip.hint);
    this.#decides = true;
  }

  /** As a key every name can be written, and some tools are called like this: it is only warned of. */
  #oddKey(entry: YamlEntry): void {
    const slip = exactNameSlip(entry.key);
    if (slip === undefined) return;
    const message = `${shown(entry.key)} is hardly the name of a tool: ${slip.why}`;
    this.#problems.add(keyPlace(entry), { severity: 'warning', code: 'POLICY_ODD_NAME', message, hint: slip.hint });
  }

  #note(entry: YamlEntry | undefined): void {
    if (entry === undefined || entry.value.kind === 'scalar') return;
    this.#fail(entry.value, 'POLICY_TYPE', `"${entry.key}" must be text`);
  }

  #map(entry: YamlEntry | undefined): YamlMap | undefined {
    if (entry === undefined) return undefined;
    if (entry.value.kind === 'map') return entry.value;
    this.#fail(entry.value, 'POLICY_TYPE', `"${entry.key}" must be a map`);
    return undefined;
  }

  #unknown(entry: YamlEntry, where: string, known: readonly string[]): void {
    const { key } = entry;
    if (NOT_ENFORCED.has(key)) {
      const hint = 'remove it here; a recording of tool calls does not show it';
      this.#fail(
        keyPlace(entry),
        'POLICY_NOT_ENFORCED',
        `"${key}" is not enforced, and must not look as if it were`,
        hint,
      );
      return;
    }
    const hint = ELSEWHERE.get(key) ?? unknownHint(key, known, 'the keys');
    this.#fail(keyPlace(entry), 'POLICY_UNKNOWN_KEY', `${where} has no key "${key}"`, hint);
  }

  #fail(place: YamlPlace, code: string, message: string, hint?: string): void {
    this.#problems.add(place, { code, message, hint });
  }
}

/** A tool may have any name, so what is under it decides. */
const isTool = (node: YamlNode): boolean =>
  node.kind === 'map' && [...node.entries.keys()].every((key) => TOOL_KEYS.includes(key));

function placeOfKey(entry: YamlEntry): ConstraintPlace {
  return locate(entry.keySource, entry.keyStart);
}

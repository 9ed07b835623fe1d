import type { Problems } from '@agentci/lib/problems';
import { visibleName } from '@agentci/lib/text';
import { keyPlace, toPlain, type YamlEntry, type YamlMap, type YamlNode } from '@agentci/lib/yaml';
import type { ArgumentCompiler } from './argument-schema.ts';
import { withLocalReferences } from './assay-form.ts';
import type { ConstraintPlace, OnViolation } from './constraint.ts';
import { shown } from './issue.ts';
import { compileToolSchema } from './json-tool-schema.ts';
import type { NamePattern, ToolPolicy } from './policy.ts';
import { ELSEWHERE, NOT_ENFORCED, TOOL_KEYS } from './policy-keys.ts';
import { type PolicyWords, placeOfKey } from './policy-words.ts';

/** The rules for tools by name. */
interface ReadTools {
  readonly named: Map<string, ToolPolicy>;
  readonly deny: readonly NamePattern[];
  readonly allow:
    | { readonly patterns: readonly NamePattern[]; readonly place: ConstraintPlace }
    | undefined;
}

/** Reads `tools` and `schemas`. */
export class ToolsReader {
  /** Set if something was read that a call can violate. */
  decidesCalls = false;
  readonly #words: PolicyWords;
  readonly #problems: Problems;
  readonly #compiler: ArgumentCompiler;

  constructor(words: PolicyWords, problems: Problems, compiler: ArgumentCompiler) {
    this.#words = words;
    this.#problems = problems;
    this.#compiler = compiler;
  }

  read(entry: YamlEntry | undefined): ReadTools {
    const named = new Map<string, ToolPolicy>();
    const none = { named, deny: [] as readonly NamePattern[], allow: undefined };
    if (entry === undefined) return none;
    if (entry.value.kind !== 'map') {
      this.#words.fail(
        entry.value,
        'POLICY_VALUE',
        '"tools" must be a map from tool names to their rules',
      );
      return none;
    }
    let deny: readonly NamePattern[] = [];
    let allow: { patterns: readonly NamePattern[]; place: ConstraintPlace } | undefined;
    for (const tool of entry.value.entries.values()) {
      const isList = tool.value.kind === 'seq';
      if (tool.key === 'deny' && isList) deny = this.#words.patterns(tool, 'deny');
      else if (tool.key === 'allow' && isList)
        allow = { patterns: this.#words.patterns(tool, 'allow'), place: placeOfKey(tool) };
      else if ((NOT_ENFORCED.has(tool.key) || ELSEWHERE.has(tool.key)) && !isTool(tool.value))
        this.#words.unknown(tool, '"tools"', []);
      else {
        this.#words.oddKey(tool);
        const read = this.#tool(tool);
        if (read !== undefined) named.set(visibleName(tool.key), read);
      }
    }
    this.decidesCalls ||=
      deny.length > 0 || (allow !== undefined && !allow.patterns.some(({ text }) => text === '*'));
    return { named, deny, allow };
  }

  #tool(entry: YamlEntry): ToolPolicy | undefined {
    const { key, value } = entry;
    const place = placeOfKey(entry);
    if (value.kind === 'scalar' && value.value === null && value.broken !== true)
      return { name: key, place, isJsonSchema: false };
    if (value.kind !== 'map') {
      this.#words.fail(value, 'POLICY_VALUE', `"${key}" must be a map with "arguments"`);
      return undefined;
    }
    for (const each of value.entries.values())
      if (!TOOL_KEYS.includes(each.key)) this.#words.unknown(each, 'a tool', TOOL_KEYS);
    const mode = value.entries.get('on_violation');
    const written = mode === undefined ? undefined : toPlain(mode.value);
    if (mode !== undefined && written !== 'block' && written !== 'warn' && written !== 'log')
      this.#words.fail(
        mode.value,
        'POLICY_VALUE',
        `"on_violation" must be block, warn or log, not ${shown(written)}`,
      );
    const onViolation = (written ?? 'block') as OnViolation;
    const schema = this.#compiler.map({
      properties: value.entries.get('arguments')?.value,
      required: value.entries.get('required'),
      additional: value.entries.get('additionalProperties'),
      onViolation,
      name: 'arguments',
    });
    if (schema?.decides !== true) return { name: key, place, isJsonSchema: false };
    this.decidesCalls = true;
    return { name: key, place, isJsonSchema: false, schema };
  }

  /** Adds tools with a JSON Schema for their arguments. */
  addSchemas(entry: YamlEntry | undefined, named: Map<string, ToolPolicy>): void {
    if (entry === undefined) return;
    if (entry.value.kind !== 'map') {
      this.#words.fail(
        entry.value,
        'POLICY_VALUE',
        '"schemas" must be a map from names of tools to JSON Schemas',
      );
      return;
    }
    const defs = entry.value.entries.get('$defs')?.value;
    const shared = defs?.kind === 'map' ? (withLocalReferences(defs) as YamlMap) : undefined;
    for (const tool of entry.value.entries.values()) {
      if (tool.key === '$defs') continue;
      if (named.get(visibleName(tool.key))?.schema !== undefined) {
        this.#words.fail(
          keyPlace(tool),
          'POLICY_VALUE',
          `"${tool.key}" has "arguments" under "tools" already`,
        );
        continue;
      }
      const local = withLocalReferences(tool.value);
      const schema = compileToolSchema({ ...tool, value: local }, shared, this.#problems);
      if (schema === undefined) continue;
      this.decidesCalls = true;
      this.#words.oddKey(tool);
      named.set(visibleName(tool.key), {
        name: tool.key,
        place: placeOfKey(tool),
        schema,
        isJsonSchema: true,
      });
    }
  }
}

/** A tool may have any name, so the value decides. */
const isTool = (node: YamlNode): boolean =>
  node.kind === 'map' && [...node.entries.keys()].every((key) => TOOL_KEYS.includes(key));

import type { Diagnostic } from '@agentci/lib/problems';
import { Problems } from '@agentci/lib/problems';
import { compileGlob, isGlob } from '@agentci/lib/regex';
import {
  keyPlace,
  locate,
  parseYaml,
  placeAt,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '@agentci/lib/yaml';
import { ArgumentCompiler } from './argument-schema.ts';
import { fromAssayForm } from './assay-form.ts';
import { type CompiledRule, compileRules } from './compile-rules.ts';
import type { ConstraintPlace } from './constraint.ts';
import { readFlows } from './flows/read-flows.ts';
import { shown } from './issue.ts';
import type { Policy, PolicyExample } from './policy.ts';
import { LIMITS, NOT_ENFORCED, ROOT_KEYS } from './policy-keys.ts';
import { PolicyWords, placeOfKey } from './policy-words.ts';
import { readExamples } from './read-examples.ts';
import { ToolsReader } from './read-tools.ts';
import { type ReadPolicyFile, References } from './references.ts';
import type { Aliases } from './selectors.ts';

export interface ParsePolicyOptions {
  /** Name for diagnostics and violations. */
  readonly file?: string;
  /** Reads files referenced by `$ref`. */
  readonly readFile?: ReadPolicyFile;
  /** Unknown tools will fail, so a policy with only tool names can fail too. */
  readonly strict?: boolean;
}

export interface ParsedPolicy {
  /** Absent if any diagnostic is an error. */
  readonly policy?: Policy;
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses a policy from YAML or JSON. Never throws for a user's mistake. */
export function parsePolicy(text: string, options: ParsePolicyOptions = {}): ParsedPolicy {
  const { root, diagnostics } = parseYaml(text, { file: options.file ?? 'policy.yaml' });
  if (root === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    return { diagnostics };
  const parsed = parsePolicyNode(root, options);
  const { policy } = parsed;
  return {
    policy: policy === undefined ? undefined : { ...policy, sources: [text, ...policy.sources] },
    diagnostics: [...diagnostics, ...parsed.diagnostics],
  };
}

/** Like `parsePolicy`, for a policy inside another document. */
export function parsePolicyNode(root: YamlNode, options: ParsePolicyOptions = {}): ParsedPolicy {
  const problems = new Problems('POLICY_VALUE');
  const policy =
    root.kind === 'map'
      ? new PolicyReader(
          fromAssayForm(root, [...ROOT_KEYS, ...NOT_ENFORCED], problems),
          problems,
          options,
        ).read()
      : undefined;
  if (root.kind !== 'map')
    problems.add(root, {
      code: 'POLICY_VALUE',
      message: 'a policy is a map of keys',
      hint: 'start with "tools:"',
    });
  const diagnostics = problems.sorted();
  return policy === undefined || problems.errors > 0 ? { diagnostics } : { policy, diagnostics };
}

class PolicyReader {
  readonly #root: YamlMap;
  readonly #problems: Problems;
  readonly #options: ParsePolicyOptions;
  readonly #references: References;
  readonly #words: PolicyWords;
  readonly #toolsReader: ToolsReader;
  #decidesCalls = false;

  constructor(root: YamlMap, problems: Problems, options: ParsePolicyOptions) {
    this.#root = root;
    this.#problems = problems;
    this.#options = options;
    this.#references = new References(root, problems, options.readFile);
    this.#words = new PolicyWords(problems);
    const compiler = new ArgumentCompiler({
      problems,
      resolve: this.#references.resolve,
      dialect: 'policy',
    });
    this.#toolsReader = new ToolsReader(this.#words, problems, compiler);
  }

  read(): Policy {
    const { entries } = this.#root;
    const type = entries.get('type');
    if (type !== undefined && entries.has('properties'))
      this.#words.fail(
        keyPlace(type),
        'POLICY_VALUE',
        'this is a JSON Schema of no tool',
        'put it under the name of its tool: schemas: {my_tool: {type: object, …}}',
      );
    else
      for (const entry of entries.values())
        if (!ROOT_KEYS.includes(entry.key)) this.#words.unknown(entry, 'a policy', ROOT_KEYS);
    for (const key of ['version', 'name', 'description']) this.#words.note(entries.get(key));
    const tools = this.#toolsReader.read(entries.get('tools'));
    this.#toolsReader.addSchemas(entries.get('schemas'), tools.named);
    this.#decidesCalls ||= this.#toolsReader.decidesCalls;
    const unconstrained = this.#enforcement(entries.get('enforcement'));
    const limits = this.#limits(entries.get('limits'));
    const aliases = this.#aliases(entries.get('aliases'));
    const rules = [
      ...this.#rules(entries.get('sequences'), aliases),
      ...this.#rules(entries.get('rules'), aliases),
      ...this.#flows(entries.get('flows'), aliases),
    ];
    const blocklist = this.#words.patterns(entries.get('blocklist'), 'blocklist');
    const examples = this.#examples(entries.get('examples'));
    this.#refuseEmpty(rules.length > 0 || blocklist.length > 0);
    const name = entries.get('name');
    const all = [...tools.named.values()];
    return {
      file: this.#root.source.file,
      name: name === undefined ? undefined : String(toPlain(name.value)),
      tools: tools.named,
      toolGlobs: all
        .filter((tool) => isGlob(tool.name))
        .map((tool) => ({ matches: compileGlob(tool.name), tool })),
      allow: tools.allow?.patterns,
      allowPlace: tools.allow?.place,
      deny: tools.deny,
      unconstrained,
      limits,
      aliases,
      rules,
      blocklist,
      examples,
      sources: [...this.#references.texts, ...this.#texts],
      hasCallRules: this.#decidesCalls,
    };
  }

  #refuseEmpty(hasRules: boolean): void {
    const decides = this.#words.decides || hasRules;
    if (
      !decides &&
      !this.#decidesCalls &&
      this.#options.strict !== true &&
      this.#problems.errors === 0
    ) {
      this.#problems.add(this.#root, {
        code: 'POLICY_CANNOT_FAIL',
        message: 'the policy allows everything, so it cannot fail',
        hint: 'ask something of arguments (tools.<name>.arguments), deny tools, or add rules',
      });
    }
  }

  #enforcement(entry: YamlEntry | undefined): Policy['unconstrained'] {
    const map = this.#words.map(entry);
    if (map === undefined) return undefined;
    for (const each of map.entries.values())
      if (each.key !== 'unconstrained_tools')
        this.#words.unknown(each, '"enforcement"', ['unconstrained_tools']);
    const mode = map.entries.get('unconstrained_tools');
    if (mode === undefined) return undefined;
    const written = toPlain(mode.value);
    if (written !== 'allow' && written !== 'warn' && written !== 'deny') {
      this.#words.fail(
        mode.value,
        'POLICY_VALUE',
        `"unconstrained_tools" must be allow, warn or deny, not ${shown(written)}`,
      );
      return undefined;
    }
    this.#decidesCalls ||= written !== 'allow';
    return { mode: written, place: placeOfKey(mode) };
  }

  #limits(entry: YamlEntry | undefined): Policy['limits'] {
    const map = this.#words.map(entry);
    if (map === undefined) return [];
    return [...map.entries.values()].flatMap((each) => {
      if (!LIMITS.includes(each.key)) {
        this.#words.unknown(each, '"limits"', LIMITS);
        return [];
      }
      const max = toPlain(each.value);
      if (typeof max !== 'number' || !Number.isInteger(max) || max < 0) {
        this.#words.fail(
          each.value,
          'POLICY_VALUE',
          `"${each.key}" must be a whole number of at least 0, not ${shown(max)}`,
        );
        return [];
      }
      this.#decidesCalls = true;
      return [{ name: each.key, max, place: placeOfKey(each) }];
    });
  }

  #aliases(entry: YamlEntry | undefined): Aliases {
    const map = this.#words.map(entry);
    const aliases = new Map<string, readonly string[]>();
    for (const each of map?.entries.values() ?? []) {
      const names = toPlain(each.value);
      const list = typeof names === 'string' ? [names] : names;
      if (
        Array.isArray(list) &&
        list.length > 0 &&
        list.every((name) => typeof name === 'string' && name.trim() !== '')
      ) {
        for (const name of list as string[]) this.#words.slip(each.value, name);
        aliases.set(each.key, list as string[]);
      } else this.#words.fail(each.value, 'POLICY_VALUE', `"${each.key}" must be a list of tools`);
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
    const { rules, issues } = compileRules(toPlain(value), {
      aliases,
      placeOf,
      readFile: this.#readBeside,
    });
    for (const issue of issues) this.#words.issue(value, issue);
    return rules;
  }

  #examples(entry: YamlEntry | undefined): readonly PolicyExample[] {
    if (entry === undefined) return [];
    const { value } = entry;
    const placeOf = (index: number): ConstraintPlace => {
      const { source, start } = placeAt(value, [index]);
      return locate(source, start);
    };
    return readExamples(toPlain(value), {
      placeOf,
      report: (issue) => this.#words.issue(value, issue),
    });
  }

  #flows(entry: YamlEntry | undefined, aliases: Aliases): readonly CompiledRule[] {
    if (entry === undefined) return [];
    const { value } = entry;
    const placeOf = (index: number): ConstraintPlace => {
      const { source, start } = placeAt(value, [index]);
      return locate(source, start);
    };
    return readFlows(toPlain(value), {
      aliases,
      placeOf,
      report: (issue) => this.#words.issue(value, issue),
    });
  }

  readonly #readBeside = (
    path: string,
  ): { ok: true; text: string } | { ok: false; message: string } => {
    const found = this.#options.readFile?.(path, this.#root.source.file);
    if (found === undefined)
      return { ok: false, message: `the file "${path}" cannot be read from here` };
    if (found.ok) this.#texts.push(found.text);
    return found;
  };
  readonly #texts: string[] = [];
}

import { dirname, join } from 'node:path';
import { parseModelName } from '@agentci/judge';
import {
  didYouMean,
  parseTemplate,
  renderTemplate,
  slotsOf,
  type Template,
} from '@agentci/lib/text';
import { joinOr } from '@agentci/lib/values';
import {
  keyPlace,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlPlace,
  type YamlSource,
} from '@agentci/lib/yaml';
import type { Cell } from '@agentci/results';
import { readContextFile, type SpecFiles, SpecFolder } from './files.ts';
import type { SpecProblems } from './problems.ts';
import {
  PLACEHOLDER,
  RUNNER_KINDS,
  RUNNER_SCHEMAS,
  type RunnerConfig,
  toRunnerConfig,
  type WrittenRunner,
} from './runner-config.ts';
import { isPromptFile } from './runner-prompt-file.ts';
import type { Query } from './suite.ts';
import { checkValue, emptyKey, isBroken, isNull } from './value-check.ts';
import { slotPlace } from './variables.ts';

/**
 * Reports an unknown provider and a missing prompt. Values with variables are checked when they
 * run.
 */
function checkModel(
  { model, prompt, baseUrl }: Extract<RunnerConfig, { kind: 'model' }>,
  value: YamlMap,
  problems: SpecProblems,
  files: SpecFiles,
): void {
  const at = (key: string): YamlNode => value.entries.get(key)!.value;
  if (
    !model.includes('{{') &&
    parseModelName(model, { hasBaseUrl: baseUrl !== undefined }) === undefined
  )
    problems.add(at('model'), {
      code: 'SPEC_VALUE',
      message: `no known provider has the model "${model}"`,
      hint: 'write anthropic:, openai:, openai-chat: or google: and its name, or add base_url',
    });
  if (prompt === undefined || prompt.includes('{{') || !isPromptFile(prompt)) return;
  const node = at('prompt');
  const file = readContextFile(prompt, new SpecFolder(dirname(node.source.file), files));
  if (file.ok) return;
  const { code, message, hint } = file;
  problems.add(node, {
    code,
    message: message.replace('context file', 'prompt file'),
    hint: code === 'SPEC_FILE_UNREADABLE' ? 'a prompt is plain text' : hint,
  });
}

const KINDS = joinOr(RUNNER_KINDS.map((kind) => `"${kind}"`));

/** Reads `runner:`, which has exactly one kind. Keys of other kinds are unknown keys. */
export function readRunner(
  entry: YamlEntry,
  problems: SpecProblems,
  files: SpecFiles,
): RunnerConfig | undefined {
  const { value } = entry;
  if (isBroken(value)) return undefined;
  if (value.kind !== 'map') {
    const place = keyPlace(entry);
    if (isNull(value)) problems.add(place, emptyKey(entry.key));
    else
      problems.add(value, {
        code: 'SPEC_VALUE',
        message: '"runner" must be a map',
        hint: 'for example: {replay: ./traces}',
      });
    return undefined;
  }
  const kinds = RUNNER_KINDS.filter((kind) => value.entries.has(kind));
  const [kind] = kinds;
  if (kind === undefined) {
    const meant = [...value.entries.keys()]
      .map((key) => didYouMean(key, RUNNER_KINDS))
      .find((key) => key !== undefined);
    const hint =
      meant === undefined ? 'for example: {replay: ./traces}' : `did you mean "${meant}"?`;
    problems.add(value, {
      code: 'SPEC_VALUE',
      message: `"runner" needs one of ${KINDS}`,
      hint,
    });
    return undefined;
  }
  if (kinds.length > 1) {
    const second = [...value.entries.values()].filter(({ key }) =>
      (kinds as readonly string[]).includes(key),
    )[1]!;
    problems.add(keyPlace(second), {
      code: 'SPEC_VALUE',
      message: `"runner" has ${kinds.length} kinds, but it takes one of ${KINDS}`,
      hint: 'keep one of them',
    });
    return undefined;
  }
  if (!checkValue(entry, RUNNER_SCHEMAS[kind], problems)) return undefined;
  const config = toRunnerConfig(kind, toPlain(value) as WrittenRunner);
  if (config.kind === 'model') checkModel(config, value, problems, files);
  return config;
}

/** The values of a run in the texts of its runner. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  'query',
  'id',
  'run',
  'metadata',
  'message',
  'messages',
  'conversation',
]);

/** Variables in the texts of the runner, with the first place of each. */
export function runnerVariables(runner: YamlEntry | undefined): ReadonlyMap<string, YamlPlace> {
  const names = new Map<string, YamlPlace>();
  const find = (node: YamlNode): void => {
    if (node.kind === 'seq') for (const item of node.items) find(item);
    else if (node.kind === 'map') for (const { value } of node.entries.values()) find(value);
    else if (typeof node.value === 'string') {
      for (const part of parseTemplate(node.value)?.parts ?? [])
        if (typeof part !== 'string' && !OWN_NAMES.has(part.name) && !names.has(part.name))
          names.set(part.name, slotPlace(node, part.start));
    }
  };
  if (runner !== undefined) find(runner.value);
  return names;
}

/**
 * A query with variables must have those that the runner needs. In any other query, braces in the
 * runner are plain text.
 */
export function checkRunnerVariables(
  names: ReadonlyMap<string, YamlPlace>,
  queries: readonly Query[],
  problems: SpecProblems,
): void {
  for (const [name, place] of names) {
    const without = queries.find(({ vars }) => vars !== undefined && !Object.hasOwn(vars, name));
    if (without === undefined) continue;
    problems.add(place, {
      code: 'SPEC_VARIABLE_MISSING',
      message: `the query "${without.id}" has no variable "${name}", which the runner needs`,
      hint: 'give it a value under "vars" at the root of the spec, or write \\{{ for literal braces',
    });
  }
}

interface Prompt {
  readonly source: YamlSource;
  readonly template: Template | undefined;
}

/** The variables in the prompt file of a `model` runner, which a query must have too. */
export class PromptFiles {
  readonly #node: YamlNode | undefined;
  readonly #written: string = '';
  readonly #name: Template | undefined;
  readonly #files: SpecFiles;
  readonly #read = new Map<string, Prompt | undefined>();

  constructor(runner: RunnerConfig | undefined, entry: YamlEntry | undefined, files: SpecFiles) {
    this.#files = files;
    if (runner?.kind !== 'model' || runner.prompt === undefined || !isPromptFile(runner.prompt))
      return;
    this.#node = entry?.value.kind === 'map' ? entry.value.entries.get('prompt')?.value : undefined;
    this.#written = runner.prompt;
    this.#name = parseTemplate(runner.prompt);
  }

  /** The names in files known before the queries: the written file, or those of the matrix. */
  names(cells: readonly Cell[] | undefined): readonly string[] {
    if (this.#node === undefined) return [];
    const files = (cells ?? [{}]).map((cell) => this.#fileFor(cell));
    return files.flatMap((prompt) =>
      prompt?.template === undefined ? [] : slotsOf(prompt.template).map(({ name }) => name),
    );
  }

  /** Each variable of each file once, at its place in it. */
  check(queries: readonly Query[], problems: SpecProblems): void {
    if (this.#node === undefined) return;
    const told = new Set<string>();
    for (const { vars, id } of queries) {
      // Without variables, braces in a prompt are plain text.
      if (vars === undefined) continue;
      const prompt = this.#fileFor(vars);
      if (prompt?.template === undefined) continue;
      const { source, template } = prompt;
      for (const { message, hint, start } of template.mistakes)
        this.#tell(told, `${source.file} ${start}`, () =>
          problems.add({ source, start }, { code: 'SPEC_VARIABLE', message, hint }),
        );
      for (const { name, start } of slotsOf(template)) {
        if (OWN_NAMES.has(name) || Object.hasOwn(vars, name)) continue;
        this.#tell(told, `${source.file} ${name}`, () => {
          const near = didYouMean(name, [...OWN_NAMES, ...Object.keys(vars)]);
          problems.add(
            { source, start },
            {
              code: 'SPEC_VARIABLE_MISSING',
              message: `the query "${id}" has no variable "${name}", which the prompt needs`,
              hint:
                near === undefined
                  ? 'give it a value under "vars" at the root of the spec, or write \\{{ for literal braces'
                  : `did you mean "${near}"?`,
            },
          );
        });
      }
    }
  }

  #tell(told: Set<string>, key: string, tell: () => void): void {
    if (told.has(key)) return;
    told.add(key);
    tell();
  }

  /**
   * Undefined if the name depends on the run, or the file is unreadable, which is reported
   * elsewhere.
   */
  #fileFor(vars: Readonly<Record<string, unknown>>): Prompt | undefined {
    const slots = this.#name === undefined ? [] : slotsOf(this.#name);
    if (slots.some(({ name }) => OWN_NAMES.has(name) || !Object.hasOwn(vars, name)))
      return undefined;
    const path =
      this.#name === undefined ? this.#written : renderTemplate(this.#name, (name) => vars[name]);
    if (!this.#read.has(path)) this.#read.set(path, this.#open(path));
    return this.#read.get(path);
  }

  #open(path: string): Prompt | undefined {
    const dir = dirname(this.#node!.source.file);
    const found = readContextFile(path, new SpecFolder(dir, this.#files));
    if (!found.ok) return undefined;
    return {
      source: { file: join(dir, path), text: found.text },
      template: parseTemplate(found.text),
    };
  }
}

/**
 * Rejects a runner that would send the same request in every turn, or could not follow a
 * conversation.
 */
export function checkConversationRunner(
  entry: YamlEntry | undefined,
  runner: RunnerConfig | undefined,
  queries: readonly Query[],
  problems: SpecProblems,
): void {
  const first = queries.find(({ conversation }) => conversation !== undefined);
  if (first === undefined || entry === undefined || runner === undefined) return;
  const stateful = queries.find(({ conversation }) => conversation?.session === 'stateful');
  const add = (message: string, hint: string): void =>
    problems.add(keyPlace(entry), { code: 'SPEC_RUNNER_MESSAGE', message, hint });
  if (runner.kind === 'model' && stateful !== undefined)
    add(
      `the conversation "${stateful.id}" is stateful, and a model remembers nothing between two calls`,
      'remove "session: stateful"',
    );
  if (runner.kind !== 'http') return;
  const { method, url, body } = runner.http;
  const isWhole = method !== 'GET' && body === undefined;
  const used = new Set(
    [...`${url} ${JSON.stringify(body) ?? ''}`.matchAll(PLACEHOLDER)].map(([, name]) => name),
  );
  if (!isWhole && !used.has('message') && !used.has('messages'))
    add(
      `the request is the same in every turn of the conversation "${first.id}"`,
      'put {{messages}} (the whole history) or {{message}} (the newest one) into it',
    );
  if (stateful !== undefined && used.has('messages'))
    add(
      `the conversation "${stateful.id}" is stateful, so it has no {{messages}}`,
      'put {{message}} into the request, and {{conversation}} to tell conversations apart',
    );
}

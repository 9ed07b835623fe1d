import { dirname, join } from 'node:path';
import { didYouMean } from '../kit/did-you-mean.ts';
import { parseTemplate, renderTemplate, slotsOf, type Template } from '../kit/template.ts';
import type { YamlEntry, YamlNode, YamlSource } from '../kit/yaml-node.ts';
import type { Cell } from '../results/cell.ts';
import type { RunnerConfig } from '../runners/config.ts';
import { isPromptFile } from '../runners/prompt-file.ts';
import { readContextFile } from './context-file.ts';
import type { SpecProblems } from './problems.ts';
import { OWN_NAMES } from './runner-variables.ts';
import type { Query } from './suite.ts';

interface Prompt {
  readonly source: YamlSource;
  readonly template: Template | undefined;
}

/** The variables that the prompt of a `model` runner uses, where it is a file: a query must have those too. */
export class PromptFiles {
  readonly #node: YamlNode | undefined;
  readonly #written: string = '';
  readonly #name: Template | undefined;
  readonly #read = new Map<string, Prompt | undefined>();

  constructor(runner: RunnerConfig | undefined, entry: YamlEntry | undefined) {
    if (runner?.kind !== 'model' || runner.prompt === undefined || !isPromptFile(runner.prompt))
      return;
    this.#node = entry?.value.kind === 'map' ? entry.value.entries.get('prompt')?.value : undefined;
    this.#written = runner.prompt;
    this.#name = parseTemplate(runner.prompt);
  }

  /** The names in the files that are known before the queries are: the one that is written, or those of the matrix. */
  names(cells: readonly Cell[] | undefined): readonly string[] {
    if (this.#node === undefined) return [];
    const files = (cells ?? [{}]).map((cell) => this.#fileFor(cell));
    return files.flatMap((prompt) =>
      prompt?.template === undefined ? [] : slotsOf(prompt.template).map(({ name }) => name),
    );
  }

  /** Each variable of each file once, at its place there. */
  check(queries: readonly Query[], problems: SpecProblems): void {
    if (this.#node === undefined) return;
    const told = new Set<string>();
    for (const { vars, id } of queries) {
      // Without variables in scope, braces in a prompt are plain text.
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
                  ? 'give it a value under "vars" at the root of the spec; write \\{{ where braces are meant as text'
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

  /** Undefined where the name needs what only a run knows, or the file cannot be read, which is told elsewhere. */
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
    const found = readContextFile(path, dir);
    if (!found.ok) return undefined;
    return {
      source: { file: join(dir, path), text: found.text },
      template: parseTemplate(found.text),
    };
  }
}

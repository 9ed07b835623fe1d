import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Diagnostic } from '@agentci/lib/problems';
import type { YamlNode } from '@agentci/lib/yaml';
import type { Policy, ReadPolicyFile } from '@agentci/policy';
import { parsePolicy, parsePolicyNode } from '@agentci/policy';
import { realPath, type SpecFiles, SpecFolder } from './files.ts';
import type { SpecProblems } from './problems.ts';

/** Reads the policies of a spec, each once. Reads nothing outside the spec's folder. */
export class PolicyLoader {
  readonly #folder: SpecFolder;
  /** The folder as the user wrote it, for file names in messages. */
  readonly #shownFolder: string;
  readonly #isOnDisk: boolean;
  readonly #problems: SpecProblems;
  readonly #nodes = new Map<YamlNode, Map<boolean, Policy | undefined>>();
  readonly #files = new Map<string, Policy | undefined>();
  readonly #reported = new Set<string>();

  constructor(specFile: string, problems: SpecProblems, files: SpecFiles) {
    this.#folder = SpecFolder.of(specFile, files);
    this.#shownFolder = dirname(specFile);
    this.#isOnDisk = files.realPath(resolve(specFile)) !== undefined;
    this.#problems = problems;
  }

  /** The policy at a node: a path, or the policy itself. Undefined after reporting a problem. */
  load(node: YamlNode, options: { readonly strict?: boolean } = {}): Policy | undefined {
    const strict = options.strict ?? false;
    const known = this.#nodes.get(node);
    if (known?.has(strict)) return known.get(strict);
    const policy =
      node.kind === 'scalar'
        ? this.#file(node, strict)
        : this.#report(parsePolicyNode(node, { readFile: this.#read, strict }));
    if (known === undefined) this.#nodes.set(node, new Map([[strict, policy]]));
    else known.set(strict, policy);
    return policy;
  }

  #file(node: YamlNode & { kind: 'scalar' }, strict: boolean): Policy | undefined {
    if (node.broken === true) return undefined;
    const path = String(node.value ?? '');
    const found = this.#read(path, node.source.file);
    if (!found.ok) {
      this.#problems.add(node, {
        // A text without a file has no folder. Its policy is an error when it is needed, not here.
        severity: this.#isOnDisk ? 'error' : 'warning',
        code: 'SPEC_FILE_MISSING',
        message: found.message,
        hint: 'a policy is named by its path, from the folder of the file it is written in, and lies below the spec',
      });
      return undefined;
    }
    const key = `${strict} ${found.file}`;
    if (this.#files.has(key)) return this.#files.get(key);
    const policy = this.#report(
      parsePolicy(found.text, { file: found.file, readFile: this.#read, strict }),
    );
    this.#files.set(key, policy);
    return policy;
  }

  readonly #read: ReadPolicyFile = (path, from) => {
    const { files } = this.#folder;
    const found = this.#folder.find(path, dirname(realPath(from, files)));
    if (!found.ok)
      return {
        ok: false,
        message: found.isOutside
          ? `"${path}" lies outside the folder of the spec`
          : `the file "${path}" does not exist`,
      };
    const text = files.readText(found.path);
    if (text === undefined)
      return {
        ok: false,
        message: `"${path}" is not a file that can be read as UTF-8 text of at most 10 MB`,
      };
    return {
      ok: true,
      file: join(this.#shownFolder, relative(this.#folder.path, found.path)).replaceAll(sep, '/'),
      text,
    };
  };

  /**
   * Queries that share a part of a policy through `defaults` would otherwise report it once each.
   */
  #report({
    policy,
    diagnostics,
  }: {
    policy?: Policy;
    diagnostics: readonly Diagnostic[];
  }): Policy | undefined {
    const fresh = diagnostics.filter(({ file, line, column, code, message }) => {
      const key = `${file}:${line}:${column} ${code} ${message}`;
      if (this.#reported.has(key)) return false;
      this.#reported.add(key);
      return true;
    });
    this.#problems.addAll(fresh);
    return policy;
  }
}

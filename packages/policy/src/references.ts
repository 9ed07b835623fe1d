import type { Problems } from '@agentci/lib/problems';
import { nodeAt, parseYaml, type YamlEntry, type YamlNode } from '@agentci/lib/yaml';

/**
 * Returns the text of a file that a policy references. The caller decides which files are allowed.
 */
export type ReadPolicyFile = (
  path: string,
  from: string,
) =>
  | { readonly ok: true; readonly file: string; readonly text: string }
  | { readonly ok: false; readonly message: string };

const MAX_FILES = 100;

/**
 * Follows `$ref: "#/definitions/x"` and `$ref: "common.yaml#/definitions/x"`. Reads each file once.
 */
export class References {
  readonly #roots = new Map<string, YamlNode>();
  readonly #texts: string[] = [];
  readonly #files = new Map<string, YamlNode | undefined>();
  readonly #problems: Problems;
  readonly #read: ReadPolicyFile | undefined;

  constructor(root: YamlNode, problems: Problems, read: ReadPolicyFile | undefined) {
    this.#roots.set(root.source.file, root);
    this.#problems = problems;
    this.#read = read;
  }

  /** The texts of the referenced files. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  readonly resolve = ({ value }: YamlEntry): YamlNode | undefined => {
    if (value.kind !== 'scalar' || typeof value.value !== 'string' || value.value === '')
      return this.#fail(value, '"$ref" takes text such as "#/definitions/amount"');
    const text = value.value;
    const hash = text.indexOf('#');
    const path = hash < 0 ? text : text.slice(0, hash);
    const pointer = hash < 0 ? '' : text.slice(hash + 1);
    const root = path === '' ? this.#roots.get(value.source.file) : this.#load(path, value);
    if (root === undefined) return undefined;
    const steps = pointer === '' || pointer === '/' ? [] : pointer.slice(1).split('/');
    const found =
      pointer !== '' && !pointer.startsWith('/')
        ? undefined
        : nodeAt(
            root,
            steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
          );
    return (
      found ??
      this.#fail(value, `"${text}" leads to nothing`, 'a pointer is written "#/definitions/name"')
    );
  };

  #load(path: string, place: YamlNode): YamlNode | undefined {
    const read = this.#read?.(path, place.source.file);
    if (read === undefined)
      return this.#fail(place, `"${path}" cannot be read: this policy is in no file`);
    if (!read.ok)
      return this.#fail(
        place,
        read.message,
        'paths start at the folder of the file they are written in',
      );
    if (this.#files.has(read.file)) return this.#files.get(read.file);
    if (this.#files.size >= MAX_FILES)
      return this.#fail(place, `more than ${MAX_FILES} files are referred to`);
    const { root, diagnostics } = parseYaml(read.text, { file: read.file });
    this.#problems.addAll(diagnostics);
    this.#texts.push(read.text);
    this.#files.set(read.file, root);
    if (root !== undefined) this.#roots.set(read.file, root);
    return root;
  }

  #fail(place: YamlNode, message: string, hint?: string): undefined {
    this.#problems.add(place, { code: 'POLICY_SCHEMA', message, hint });
    return undefined;
  }
}

import { dirname, join, relative, sep } from 'node:path';
import {
  brokenScalar,
  nodeAt,
  parseYaml,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from '@agentci/lib/yaml';
import { mergeMaps } from './defaults.ts';
import { realPath, type SpecFiles, SpecFolder } from './files.ts';
import type { SpecProblems } from './problems.ts';

export const INCLUDE_TAG = '!include';
const REF_KEY = '$ref';

/** Below these keys `$ref` has another meaning: JSON Schema, a policy, or user data. */
const OPAQUE_KEYS = new Set(['json_schema', 'policy', 'metadata', 'body', 'args']);

const MAX_FILES = 500;
const MAX_DEPTH = 200;
/** Maximum number of values in a spec with all includes. */
const MAX_NODES = 2_000_000;

interface Loaded {
  readonly path: string;
  readonly root: YamlNode;
}

interface Position {
  readonly file: Loaded;
  readonly opaque: boolean;
  readonly depth: number;
}

/**
 * Replaces `!include file.yaml#/pointer` and `$ref: file.yaml#/pointer` by their content. Reads
 * nothing outside the spec's folder.
 */
export function resolveIncludes(
  root: YamlNode,
  problems: SpecProblems,
  files: SpecFiles,
): YamlNode {
  const { text } = root.source;
  if (!text.includes(INCLUDE_TAG) && !text.includes(REF_KEY)) return root;
  const resolver = new IncludeResolver(root, problems, files);
  const resolved = resolver.run();
  if (weightOf(resolved, new Map()) <= MAX_NODES) return resolved;
  problems.add(root, {
    code: 'SPEC_TOO_LARGE',
    message: `with its includes the spec holds more than ${MAX_NODES} values`,
    hint: 'files that include each other several times multiply',
  });
  return brokenScalar(root.source, root.start);
}

class IncludeResolver {
  readonly #problems: SpecProblems;
  readonly #main: Loaded;
  readonly #folder: SpecFolder;
  readonly #files = new Map<string, Loaded | undefined>();
  readonly #open = new Set<string>();
  readonly #done = new Map<string, YamlNode>();

  constructor(root: YamlNode, problems: SpecProblems, files: SpecFiles) {
    const path = realPath(root.source.file, files);
    this.#problems = problems;
    this.#main = { path, root };
    this.#folder = new SpecFolder(dirname(path), files);
    this.#files.set(path, this.#main);
  }

  run(): YamlNode {
    this.#open.add(`${this.#main.path}#`);
    return this.#walk(this.#main.root, { file: this.#main, opaque: false, depth: 0 });
  }

  #walk(node: YamlNode, at: Position): YamlNode {
    const below = { ...at, depth: at.depth + 1 };
    if (at.depth > MAX_DEPTH)
      return this.#fail(node, 'DEPTH', `includes nest deeper than ${MAX_DEPTH} levels`);
    if (node.kind === 'scalar')
      return node.tag === INCLUDE_TAG ? this.#include(node, node, below) : node;
    if (node.kind === 'seq') {
      const items = node.items.map((item) => this.#walk(item, below));
      return items.every((item, i) => item === node.items[i]) ? node : { ...node, items };
    }
    const ref = at.opaque ? undefined : node.entries.get(REF_KEY);
    if (ref !== undefined) return this.#reference(node, ref, below);
    let changed = false;
    const entries = new Map<string, YamlEntry>();
    for (const [key, entry] of node.entries) {
      const value = this.#walk(
        entry.value,
        OPAQUE_KEYS.has(key) ? { ...below, opaque: true } : below,
      );
      changed ||= value !== entry.value;
      entries.set(key, value === entry.value ? entry : { ...entry, value });
    }
    return changed ? { ...node, entries } : node;
  }

  #reference(node: YamlMap, ref: YamlEntry, at: Position): YamlNode {
    const { value } = ref;
    if (value.kind !== 'scalar' || typeof value.value !== 'string') {
      return this.#fail(value, 'TARGET', '"$ref" takes text such as "shared.yaml#/rubrics/polite"');
    }
    const target = this.#include(value, node, at);
    if (node.entries.size === 1 || (target.kind === 'scalar' && target.broken === true))
      return target;
    const rest = new Map(node.entries);
    rest.delete(REF_KEY);
    const own = this.#walk({ ...node, entries: rest }, at);
    if (target.kind === 'map' && own.kind === 'map') return mergeMaps(target, own);
    return this.#fail(
      value,
      'TARGET',
      'keys next to "$ref" need a map to override',
      'remove the keys, or point to a map',
    );
  }

  #include(target: YamlScalar, place: YamlNode, at: Position): YamlNode {
    const text = String(target.value ?? '');
    const hash = text.indexOf('#');
    const path = hash < 0 ? text : text.slice(0, hash);
    const pointer = hash < 0 ? '' : text.slice(hash + 1);
    if (path === '' && pointer === '') {
      return this.#fail(
        target,
        'TARGET',
        'the name of a file is missing',
        'for example: !include shared/rubrics.yaml',
      );
    }
    const file = path === '' ? at.file : this.#load(path, target, at.file);
    if (file === undefined) return brokenScalar(place.source, place.start);
    const key = `${file.path}#${pointer}`;
    const doneKey = `${at.opaque} ${key}`;
    if (this.#open.has(key)) {
      return this.#fail(
        target,
        'CYCLE',
        `"${text}" leads back to itself`,
        'break the circle of includes',
      );
    }
    const cached = this.#done.get(doneKey);
    if (cached !== undefined) return cached;
    const node = nodeAtPointer(file.root, pointer);
    if (node === undefined) {
      return this.#fail(
        target,
        'POINTER',
        `"#${pointer}" leads to nothing`,
        'a pointer is written "#/key/0/key"',
      );
    }
    this.#open.add(key);
    const resolved = this.#walk(node, { file, opaque: at.opaque, depth: at.depth });
    this.#open.delete(key);
    this.#done.set(doneKey, resolved);
    return resolved;
  }

  #load(path: string, target: YamlScalar, from: Loaded): Loaded | undefined {
    const found = this.#folder.find(path, dirname(from.path));
    if (!found.ok) {
      if (found.isOutside)
        this.#fail(
          target,
          'OUTSIDE',
          `"${path}" lies outside the folder of the spec`,
          'move the file below the spec',
        );
      else
        this.#fail(
          target,
          'MISSING',
          `the file "${path}" does not exist`,
          'paths start at the folder of the file they are written in',
        );
      return undefined;
    }
    const { path: real } = found;
    if (this.#files.has(real)) return this.#files.get(real);
    const loaded = this.#parse(real, target);
    this.#files.set(real, loaded);
    return loaded;
  }

  #parse(real: string, target: YamlScalar): Loaded | undefined {
    if (this.#files.size >= MAX_FILES) {
      this.#fail(target, 'BOMB', `more than ${MAX_FILES} files are included`);
      return undefined;
    }
    const text = this.#folder.files.readText(real);
    if (text === undefined) {
      this.#fail(
        target,
        'UNREADABLE',
        `"${target.value}" is not a file that can be read as UTF-8 text of at most 10 MB`,
      );
      return undefined;
    }
    const file = join(
      dirname(this.#main.root.source.file),
      relative(this.#folder.path, real),
    ).replaceAll(sep, '/');
    const { root, diagnostics } = parseYaml(text, { file, tags: [INCLUDE_TAG] });
    this.#problems.addAll(diagnostics);
    return root === undefined ? undefined : { path: real, root };
  }

  #fail(place: YamlNode, kind: string, message: string, hint?: string): YamlNode {
    this.#problems.add(place, { code: `SPEC_INCLUDE_${kind}`, message, hint });
    return brokenScalar(place.source, place.start);
  }
}

function nodeAtPointer(root: YamlNode, pointer: string): YamlNode | undefined {
  if (pointer === '' || pointer === '/') return root;
  if (!pointer.startsWith('/')) return undefined;
  return nodeAt(root, pointer.slice(1).split('/').map(unescapePointer));
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function weightOf(node: YamlNode, known: Map<YamlNode, number>): number {
  const before = known.get(node);
  if (before !== undefined) return before;
  let weight = 1;
  if (node.kind === 'scalar')
    weight += typeof node.value === 'string' ? Math.floor(node.value.length / 64) : 0;
  else if (node.kind === 'seq') for (const item of node.items) weight += weightOf(item, known);
  else for (const entry of node.entries.values()) weight += weightOf(entry.value, known);
  known.set(node, weight);
  return weight;
}

import { YAMLException } from 'js-yaml';
import { moved } from './yaml-moved.ts';
import type { YamlEntry, YamlMap, YamlNode, YamlSource } from './yaml-node.ts';
import type { TextPart } from './yaml-parts.ts';
import { resolvePlain } from './yaml-scalar.ts';

const SPACE = 0x20;
const HASH = 0x23;
const DOLLAR = 0x24;
const DASH = 0x2d;
const COLON = 0x3a;
const UNDERSCORE = 0x5f;
/** Text without a character that could mean something in YAML. */
const PLAIN = /^[A-Za-z0-9_](?:[\w.,;/()?!@%+='-]| (?=\S))*$/;
/** Characters that are not text, or that the library looks at more closely. */
const ODD = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\ud800-\\udfff\\ufeff\\ufffe\\uffff';
const QUOTED = new RegExp(`^"(?:[^"\\\\${ODD}]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"$`);
const WORD = `"[^"\\\\${ODD}]*"|[A-Za-z_][\\w.-]*`;
const LIST = new RegExp(`^\\[(?:${WORD})(?:, (?:${WORD}))*\\]$`);
const ITEM = new RegExp(WORD, 'g');

interface OpenMap {
  readonly indent: number;
  readonly node: YamlMap;
  readonly entries: Map<string, YamlEntry>;
}

/** Different lists and maps on one line that are kept. */
const MAX_KEPT = 1000;

/**
 * Reads block lists of maps written the plain way: one key on a line, values that end on it. That is several times as fast
 * as the YAML library, which such files keep busy longer than anything else in a run. A list or map on one line is read by
 * the library, once for all lines that are written alike.
 */
export class PlainItems {
  readonly #source: YamlSource;
  /** The library. */
  readonly #parse: (part: TextPart) => YamlNode | undefined;
  readonly #known = new Map<string, YamlNode>();
  readonly #keys = new Map<string, string>();
  /** The maps that are open, outermost first. */
  readonly #open: OpenMap[] = [];
  #items: YamlNode[] = [];
  #text = '';
  #base = 0;
  /** A key whose map is expected on the next line. */
  #waiting: { readonly key: string; readonly start: number } | undefined;
  #dashes = -1;

  constructor(source: YamlSource, parse: (part: TextPart) => YamlNode | undefined) {
    this.#source = source;
    this.#parse = parse;
  }

  /** The items of a part. Undefined at the first line that is not as plain as that: then the library has to read the part. */
  read({ text, base }: TextPart): readonly YamlNode[] | undefined {
    this.#text = text;
    this.#base = base;
    this.#items = [];
    this.#open.length = 0;
    this.#waiting = undefined;
    this.#dashes = -1;
    return this.#readLines();
  }

  /**
   * Lines are `key:` with its value, as most of a generated file are, or empty. What the value may be is decided by its first
   * character. Looked at character by character: an expression would make a list of texts for each of thousands of lines.
   */
  #readLines(): readonly YamlNode[] | undefined {
    const text = this.#text;
    for (let at = 0; at < text.length; ) {
      let end = text.indexOf('\n', at);
      const isLast = end === -1;
      if (isLast) end = text.length;
      let first = at;
      while (text.charCodeAt(first) === SPACE) first++;
      const isEmpty = first === end || text.charCodeAt(first) === HASH;
      if (isEmpty ? isLast : !this.#take(at, first, end)) return undefined;
      at = end + 1;
    }
    return this.#waiting === undefined ? this.#items : undefined;
  }

  /** Reads the line that starts at `at`, has its first character at `first` and ends before `end`. */
  #take(at: number, first: number, end: number): boolean {
    const text = this.#text;
    const isItem = text.charCodeAt(first) === DASH && text.charCodeAt(first + 1) === SPACE;
    const keyAt = isItem ? first + 2 : first;
    const colon = endOfKey(text, keyAt);
    if (colon === keyAt || text.charCodeAt(colon) !== COLON) return false;
    const hasValue = colon + 1 < end;
    if (hasValue && (text.charCodeAt(colon + 1) !== SPACE || colon + 2 === end)) return false;
    if (!(isItem ? this.#startItem(first - at, keyAt - at, keyAt) : this.#place(keyAt - at, keyAt)))
      return false;
    const open = this.#open[this.#open.length - 1]!;
    const key = this.#intern(text.slice(keyAt, colon));
    if (key === undefined || open.entries.has(key)) return false;
    const keyStart = this.#base + keyAt;
    if (!hasValue) {
      this.#waiting = { key, start: keyStart };
      return true;
    }
    const node = this.#value(text.slice(colon + 2, end), this.#base + colon + 2);
    if (node === undefined) return false;
    open.entries.set(key, { key, keySource: this.#source, keyStart, value: node });
    (open.node as { end: number }).end = this.#base + end;
    return true;
  }

  /** A dash starts the next item; all dashes are in one column. */
  #startItem(dashes: number, column: number, keyAt: number): boolean {
    if (this.#waiting !== undefined || (this.#dashes !== -1 && this.#dashes !== dashes))
      return false;
    this.#dashes = dashes;
    this.#closeTo(0);
    this.#items.push(this.#openMap(column, keyAt));
    return true;
  }

  /** A key belongs to the map in its column, or opens the map that the line before it announced. */
  #place(column: number, keyAt: number): boolean {
    if (this.#waiting !== undefined) {
      const parent = this.#open.at(-1);
      if (parent === undefined || column <= parent.indent) return false;
      const { key, start } = this.#waiting;
      this.#waiting = undefined;
      const value = this.#openMap(column, keyAt);
      parent.entries.set(key, { key, keySource: this.#source, keyStart: start, value });
      return true;
    }
    let depth = this.#open.length;
    while (depth > 0 && this.#open[depth - 1]!.indent > column) depth--;
    if (depth === 0 || this.#open[depth - 1]!.indent !== column) return false;
    this.#closeTo(depth);
    return true;
  }

  #openMap(indent: number, at: number): YamlMap {
    const entries = new Map<string, YamlEntry>();
    const node: YamlMap = {
      kind: 'map',
      source: this.#source,
      start: this.#base + at,
      end: -1,
      entries,
    };
    this.#open.push({ indent, node, entries });
    return node;
  }

  /** What a map holds ends where the last map inside it does. */
  #closeTo(depth: number): void {
    while (this.#open.length > depth) {
      const { end } = this.#open.pop()!.node;
      const parent = this.#open.at(-1)?.node;
      if (parent !== undefined && end > parent.end) (parent as { end: number }).end = end;
    }
  }

  #value(text: string, start: number): YamlNode | undefined {
    const source = this.#source;
    const first = text.charCodeAt(0);
    if (first === 0x22) {
      if (!QUOTED.test(text)) return undefined;
      const value = text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
      return { kind: 'scalar', source, start, style: 'quoted', value };
    }
    if (first === 0x5b && LIST.test(text)) return this.#list(text, start);
    if (first === 0x5b || first === 0x7b) return this.#collection(text, start);
    if (!PLAIN.test(text)) return undefined;
    return { kind: 'scalar', source, start, style: 'plain', value: resolvePlain(text) };
  }

  #list(text: string, start: number): YamlNode {
    const source = this.#source;
    const items: YamlNode[] = [];
    ITEM.lastIndex = 0;
    for (let match = ITEM.exec(text); match !== null; match = ITEM.exec(text)) {
      const word = match[0];
      const at = start + match.index;
      items.push(
        word.startsWith('"')
          ? { kind: 'scalar', source, start: at, style: 'quoted', value: word.slice(1, -1) }
          : { kind: 'scalar', source, start: at, style: 'plain', value: resolvePlain(word) },
      );
    }
    return { kind: 'seq', source, start, end: start + text.length, items };
  }

  #collection(text: string, start: number): YamlNode | undefined {
    const known = this.#known.get(text);
    if (known !== undefined) return moved(known, start - known.start);
    let node: YamlNode | undefined;
    try {
      node = this.#parse({ text, base: start });
    } catch (error) {
      // It may continue below this line.
      if (error instanceof YAMLException) return undefined;
      throw error;
    }
    if (node?.start !== start) return undefined;
    if (node.kind !== 'scalar' && node.end >= 0 && this.#known.size < MAX_KEPT)
      this.#known.set(text, node);
    return node;
  }

  /** One copy of each key. Undefined for one that YAML does not take for text, such as `true`. */
  #intern(key: string): string | undefined {
    const known = this.#keys.get(key);
    if (known !== undefined || resolvePlain(key) !== key) return known;
    this.#keys.set(key, key);
    return key;
  }
}

/** Where a name that starts at `at` ends: letters, digits, `_`, `$`, and `-` after the first. */
function endOfKey(text: string, at: number): number {
  let end = at;
  for (;;) {
    const code = text.charCodeAt(end);
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
    const isLater = (code >= 0x30 && code <= 0x39) || code === DASH;
    if (!isLetter && code !== UNDERSCORE && code !== DOLLAR && !(isLater && end > at)) return end;
    end++;
  }
}

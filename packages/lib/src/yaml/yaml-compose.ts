import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import { YamlAnchors } from './yaml-anchors.ts';
import { locate, type YamlEntry, type YamlNode } from './yaml-node.ts';
import {
  brokenScalar,
  coreTag,
  makeScalar,
  type Report,
  scalarStart,
  skipBlank,
  skipClosers,
  tagHint,
  type YamlText,
} from './yaml-scalar.ts';

const WEIGHT_CHARACTERS = 64;

/** An open map or list. */
interface Frame {
  readonly node: YamlNode;
  readonly items: YamlNode[] | undefined;
  readonly entries: Map<string, YamlEntry> | undefined;
  merges: YamlNode[] | undefined;
  key: OpenKey | undefined;
  readonly anchor: string | undefined;
  readonly isBroken: boolean;
  readonly weightBefore: number;
  height: number;
}

/** A key that waits for its value. Without text if it cannot be used. */
interface OpenKey {
  readonly text: string | undefined;
  readonly start: number;
  readonly isMerge: boolean;
}

/**
 * Builds the node tree from parser events: aliases become shared nodes, merge keys are applied,
 * duplicates reported.
 */
export function compose(events: readonly Event[], of: YamlText): YamlNode | undefined {
  return new Composer(of).compose(events);
}

class Composer {
  readonly #of: YamlText;
  readonly #text: string;
  readonly #frames: Frame[] = [];
  readonly #anchors: YamlAnchors;
  // Interns keys, so that each is hashed once and compared by identity.
  readonly #keys = new Map<string, string>();
  #root: YamlNode | undefined;
  #weight = 0;
  #lastEnd = 0;

  constructor(of: YamlText) {
    this.#of = of;
    this.#text = of.source.text;
    this.#anchors = new YamlAnchors(this.#of);
  }

  compose(events: readonly Event[]): YamlNode | undefined {
    let documents = 0;
    for (const event of events) {
      if (event.type === EVENT_ID.DOCUMENT && ++documents > 1) {
        this.#refuseDocument();
        return this.#root;
      }
      this.#take(event);
      if (this.#anchors.isBomb) return undefined;
    }
    const root = this.#root;
    const isEmpty =
      root === undefined || (root.kind === 'scalar' && root.value === null && root.broken !== true);
    if (!isEmpty) return root;
    this.#of.report(0, 'YAML_EMPTY', 'the file is empty');
    return undefined;
  }

  #take(event: Event): void {
    switch (event.type) {
      case EVENT_ID.MAPPING:
        this.#open(event, 'map');
        break;
      case EVENT_ID.SEQUENCE:
        this.#open(event, 'seq');
        break;
      case EVENT_ID.SCALAR:
        this.#addScalar(event);
        break;
      case EVENT_ID.ALIAS:
        this.#addAlias(event);
        break;
      case EVENT_ID.POP: {
        const frame = this.#frames.pop();
        if (frame !== undefined) this.#close(frame);
        break;
      }
    }
  }

  #refuseDocument(): void {
    const marker = this.#text.indexOf('\n---', this.#lastEnd);
    const start = marker < 0 ? skipBlank(this.#text, this.#lastEnd) : marker + 1;
    this.#of.report(
      start,
      'YAML_SYNTAX',
      'a second document starts here',
      'one file holds one document; remove the "---"',
    );
  }

  #open(event: Extract<Event, { start: number }>, kind: 'map' | 'seq'): void {
    const { source, tags, report } = this.#of;
    const tag = event.tagStart < 0 ? undefined : this.#text.slice(event.tagStart, event.tagEnd);
    const isBroken = tag !== undefined && coreTag(tag) !== kind;
    if (isBroken) {
      const what = kind === 'seq' ? 'list' : 'map';
      report(
        event.tagStart,
        'YAML_SYNTAX',
        `the tag ${tag} cannot be used on a ${what}`,
        tagHint(tags),
      );
    }
    const anchor =
      event.anchorStart < 0 ? undefined : this.#text.slice(event.anchorStart, event.anchorEnd);
    if (anchor !== undefined) this.#anchors.open(anchor);
    const items: YamlNode[] | undefined = kind === 'seq' ? [] : undefined;
    const entries = items === undefined ? new Map<string, YamlEntry>() : undefined;
    const { start } = event;
    const node: YamlNode =
      items === undefined
        ? { kind: 'map', source, start, entries: entries! }
        : { kind: 'seq', source, start, items };
    this.#frames.push({
      node,
      items,
      entries,
      merges: undefined,
      key: undefined,
      anchor,
      isBroken,
      weightBefore: this.#weight,
      height: 1,
    });
    this.#weight++;
    this.#lastEnd = event.start;
  }

  #close(frame: Frame): void {
    for (const merge of frame.merges ?? []) mergeInto(frame.entries!, merge, this.#of.report);
    const { height } = frame;
    const node = frame.isBroken ? brokenScalar(this.#of.source, frame.node.start) : frame.node;
    if (frame.anchor !== undefined)
      this.#anchors.close(frame.anchor, {
        node,
        weight: this.#weight - frame.weightBefore,
        height,
      });
    this.#attach(node, height);
  }

  #addScalar(event: ScalarEvent): void {
    const text = this.#text;
    const value = event.valueStart < 0 ? '' : getScalarValue(text, event);
    const isEmpty = event.valueStart < 0;
    const start =
      isEmpty && event.tagStart < 0 ? this.#emptyPlace() : scalarStart(event, value, text);
    const weight = 1 + Math.floor(value.length / WEIGHT_CHARACTERS);
    this.#weight += weight;
    this.#lastEnd = Math.max(event.valueEnd, event.tagEnd, event.anchorEnd, this.#lastEnd);
    const node = makeScalar(event, value, start, this.#of);
    if (event.anchorStart >= 0)
      this.#anchors.close(text.slice(event.anchorStart, event.anchorEnd), {
        node,
        weight,
        height: 0,
      });
    this.#attach(node, 0, event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0);
  }

  /** An omitted value has no position, so its key or the dash of its list item is used instead. */
  #emptyPlace(): number {
    const frame = this.#frames.at(-1);
    if (frame?.key !== undefined) return frame.key.start;
    const place = skipBlank(this.#text, skipClosers(this.#text, this.#lastEnd));
    return Math.min(place, Math.max(this.#text.length - 1, 0));
  }

  #addAlias(event: Extract<Event, { type: typeof EVENT_ID.ALIAS }>): void {
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    this.#lastEnd = event.anchorEnd;
    const start = event.anchorStart - 1;
    const { node, weight, height } = this.#anchors.resolve(name, start, this.#frames.length);
    this.#weight += weight;
    this.#attach(node, height);
  }

  /** Adds a node to its parent: as the root, the next list item, or a key or value of a map. */
  #attach(node: YamlNode, height: number, isPlain = false): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      this.#root = node;
      return;
    }
    if (frame.height <= height) frame.height = height + 1;
    if (frame.items !== undefined) {
      frame.items.push(node);
      return;
    }
    const { key } = frame;
    if (key === undefined) {
      frame.key = this.#openKey(frame, node, isPlain);
      return;
    }
    frame.key = undefined;
    if (key.isMerge) frame.merges = [node];
    else if (key.text !== undefined) {
      const { source: keySource } = this.#of;
      frame.entries!.set(key.text, { key: key.text, keySource, keyStart: key.start, value: node });
    }
  }

  #openKey(frame: Frame, node: YamlNode, isPlain: boolean): OpenKey {
    const { source, report } = this.#of;
    const { start } = node;
    if (node.kind !== 'scalar' || typeof node.value !== 'string') {
      if (node.kind !== 'scalar' || node.broken !== true) reportKey(node, report);
      return { text: undefined, start, isMerge: false };
    }
    const isMerge = isPlain && node.value === '<<';
    const earlier = isMerge ? undefined : frame.entries!.get(node.value);
    if (earlier !== undefined || (isMerge && frame.merges !== undefined)) {
      const where =
        earlier === undefined ? '' : ` (first on line ${locate(source, earlier.keyStart).line})`;
      report(
        start,
        'YAML_DUPLICATE_KEY',
        `the key "${node.value}" is written twice${where}`,
        'keep one of them',
      );
      return { text: undefined, start, isMerge: false };
    }
    return { text: this.#intern(node.value), start, isMerge };
  }

  #intern(key: string): string {
    const known = this.#keys.get(key);
    if (known === undefined) this.#keys.set(key, key);
    return known ?? key;
  }
}

function reportKey(node: YamlNode, report: Report): void {
  const shown =
    node.kind === 'scalar' ? `${node.value}` : `a ${node.kind === 'seq' ? 'list' : 'map'}`;
  const hint = node.kind === 'scalar' ? `quote it: "${node.value}"` : undefined;
  report(node.start, 'YAML_SYNTAX', `a key must be text, not ${shown}`, hint);
}

/** `<<: *base` and `<<: [*a, *b]`: existing keys win, and earlier maps win over later ones. */
function mergeInto(entries: Map<string, YamlEntry>, merge: YamlNode, report: Report): void {
  for (const node of merge.kind === 'seq' ? merge.items : [merge]) {
    if (node.kind === 'map') {
      for (const [key, entry] of node.entries) if (!entries.has(key)) entries.set(key, entry);
    } else if (node.kind === 'seq' || node.broken !== true) {
      report(
        node.start,
        'YAML_SYNTAX',
        '"<<" takes a map, or a list of maps',
        'for example: "<<: *base"',
      );
    }
  }
}

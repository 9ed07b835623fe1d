import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import {
  locate,
  type YamlEntry,
  type YamlNode,
  type YamlScalar,
  type YamlScalarValue,
  type YamlSource,
} from './yaml-node.ts';
import type { TextPart } from './yaml-parts.ts';
import type { RepeatedValues } from './yaml-repeats.ts';
import { coreTag, resolvePlain, resolveTagged } from './yaml-scalar.ts';

export const MAX_DEPTH = 100;
/** How much aliases may add to a document, in nodes; 64 characters of text weigh as much as one node. */
const MAX_ALIAS_WEIGHT = 1_000_000;
const WEIGHT_CHARACTERS = 64;

/** Takes a problem at an offset; the reader goes on after it. */
export type Report = (start: number, code: string, message: string, hint?: string) => void;

interface Frame {
  readonly node: YamlNode;
  readonly items: YamlNode[] | undefined;
  readonly entries: Map<string, YamlEntry> | undefined;
  merges: YamlNode[] | undefined;
  key: { readonly text: string | undefined; readonly start: number; readonly isMerge: boolean } | undefined;
  readonly anchor: string | undefined;
  readonly isBroken: boolean;
  readonly weightBefore: number;
  readonly unclearBefore: number;
  height: number;
}

interface Anchored {
  readonly node: YamlNode;
  readonly weight: number;
  readonly height: number;
}

/** Builds the node tree from parser events: aliases become shared nodes, merge keys are applied, duplicates reported. */
export function compose(
  events: readonly Event[],
  source: YamlSource,
  tags: ReadonlySet<string>,
  tell: Report,
  /** Where the events come from, when that is not the whole of the source. */
  { text, base }: TextPart = { text: source.text, base: 0 },
  repeats?: RepeatedValues,
): YamlNode | undefined {
  const report: Report = (...problem) => {
    unclear++;
    tell(...problem);
  };
  const frames: Frame[] = [];
  const anchors = new Map<string, Anchored>();
  const openAnchors = new Set<string>();
  const keys = new Map<string, string>();
  let root: YamlNode | undefined;
  let documents = 0;
  let weight = 0;
  let aliasWeight = 0;
  let isBomb = false;
  let lastEnd = 0;
  /** How many values so far mean more, or less, than the text between their ends: aliases, tags, empty values, block texts. */
  let unclear = 0;

  const broken = (start: number): YamlScalar => ({
    kind: 'scalar',
    value: null,
    style: 'plain',
    source,
    start,
    broken: true,
  });

  const attach = (node: YamlNode, height: number, isPlain = false): void => {
    const frame = frames.at(-1);
    if (frame === undefined) {
      root = node;
      return;
    }
    if (frame.height <= height) frame.height = height + 1;
    if (frame.items !== undefined) {
      frame.items.push(node);
      return;
    }
    const { key } = frame;
    if (key === undefined) {
      frame.key = openKey(frame, node, isPlain);
      return;
    }
    frame.key = undefined;
    if (key.isMerge) frame.merges = [node];
    else if (key.text !== undefined) {
      frame.entries!.set(key.text, { key: key.text, keySource: source, keyStart: key.start, value: node });
    }
  };

  // Keys repeat: one copy of each is hashed once and compared by identity.
  const intern = (key: string): string => {
    const known = keys.get(key);
    if (known === undefined) keys.set(key, key);
    return known ?? key;
  };

  const openKey = (frame: Frame, node: YamlNode, isPlain: boolean): NonNullable<Frame['key']> => {
    const { start } = node;
    if (node.kind !== 'scalar' || typeof node.value !== 'string') {
      if (node.kind !== 'scalar' || node.broken !== true) {
        const shown = node.kind === 'scalar' ? `${node.value}` : `a ${node.kind === 'seq' ? 'list' : 'map'}`;
        report(
          start,
          'YAML_KEY',
          `a key must be text, not ${shown}`,
          node.kind === 'scalar' ? `quote it: "${node.value}"` : undefined,
        );
      }
      return { text: undefined, start, isMerge: false };
    }
    const isMerge = isPlain && node.value === '<<';
    const earlier = isMerge ? undefined : frame.entries!.get(node.value);
    if (earlier !== undefined || (isMerge && frame.merges !== undefined)) {
      const where = earlier === undefined ? '' : ` (first on line ${locate(source, earlier.keyStart).line})`;
      report(start, 'YAML_DUPLICATE_KEY', `the key "${node.value}" is written twice${where}`, 'keep one of them');
      return { text: undefined, start, isMerge: false };
    }
    return { text: intern(node.value), start, isMerge };
  };

  const open = (event: Extract<Event, { start: number }>, kind: 'map' | 'seq'): void => {
    const unclearBefore = unclear;
    if (event.tagStart >= 0 || event.anchorStart >= 0) unclear++;
    const tag = event.tagStart < 0 ? undefined : text.slice(event.tagStart, event.tagEnd);
    const isBroken = tag !== undefined && coreTag(tag) !== kind;
    if (isBroken) {
      report(
        base + event.tagStart,
        'YAML_TAG',
        `the tag ${tag} cannot be used on a ${kind === 'seq' ? 'list' : 'map'}`,
        tagHint(tags),
      );
    }
    const anchor = event.anchorStart < 0 ? undefined : text.slice(event.anchorStart, event.anchorEnd);
    if (anchor !== undefined) openAnchors.add(anchor);
    const items: YamlNode[] | undefined = kind === 'seq' ? [] : undefined;
    const entries = items === undefined ? new Map<string, YamlEntry>() : undefined;
    const start = event.start + base;
    const node: YamlNode =
      items === undefined
        ? { kind: 'map', source, start, end: -1, entries: entries! }
        : { kind: 'seq', source, start, end: -1, items };
    frames.push({
      node,
      items,
      entries,
      merges: undefined,
      key: undefined,
      anchor,
      isBroken,
      weightBefore: weight,
      unclearBefore,
      height: 1,
    });
    weight++;
    lastEnd = event.start;
  };

  const close = (frame: Frame): void => {
    for (const merge of frame.merges ?? []) mergeInto(frame.entries!, merge, report);
    const node = frame.isBroken ? broken(frame.node.start) : frame.node;
    if (node.kind !== 'scalar' && unclear === frame.unclearBefore) (node as { end: number }).end = lastEnd + base + 1;
    if (repeats !== undefined && node.kind !== 'scalar') repeats.closed(node);
    if (frame.anchor !== undefined) {
      openAnchors.delete(frame.anchor);
      anchors.set(frame.anchor, { node, weight: weight - frame.weightBefore, height: frame.height });
    }
    attach(node, frame.height);
  };

  const scalar = (event: ScalarEvent): void => {
    const value = event.valueStart < 0 ? '' : getScalarValue(text, event);
    const start = startOf(event, value);
    const cost = 1 + Math.floor(value.length / WEIGHT_CHARACTERS);
    weight += cost;
    if (event.valueStart < 0 || event.tagStart >= 0 || event.anchorStart >= 0 || isBlockText(event)) unclear++;
    lastEnd = Math.max(event.valueEnd, event.tagEnd, event.anchorEnd, lastEnd);
    const repeated = value === '~' ? repeats?.take(start) : undefined;
    if (repeated !== undefined) {
      attach(repeated, 1);
      return;
    }
    const node = scalarNode(event, value, start);
    if (event.anchorStart >= 0)
      anchors.set(text.slice(event.anchorStart, event.anchorEnd), { node, weight: cost, height: 0 });
    attach(node, 0, event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0);
  };

  const startOf = (event: ScalarEvent, value: string): number => {
    if (event.tagStart >= 0) return base + event.tagStart;
    if (event.valueStart < 0) return emptyPlace();
    if (event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED)
      return base + event.valueStart - 1;
    if (event.style === SCALAR_STYLE.PLAIN || value === '') return base + event.valueStart;
    return base + blockHeader(text, event.valueStart);
  };

  // A value that was left out has no place of its own: its key, or the dash of its list item, stands in.
  const emptyPlace = (): number => {
    const frame = frames.at(-1);
    if (frame?.key !== undefined) return frame.key.start;
    return base + Math.min(skipBlank(text, skipClosers(text, lastEnd)), Math.max(text.length - 1, 0));
  };

  const scalarNode = (event: ScalarEvent, value: string, start: number): YamlScalar => {
    const style = SCALAR_STYLES[event.style];
    if (event.tagStart < 0) {
      return { kind: 'scalar', source, start, style, value: style === 'plain' ? resolvePlain(value) : value };
    }
    const base = { kind: 'scalar', source, start, style } as const;
    const tag = text.slice(event.tagStart, event.tagEnd);
    if (tag === '!') return { ...base, value };
    if (tags.has(tag)) return { ...base, value, tag };
    const core = coreTag(tag);
    const resolved: YamlScalarValue | undefined = core === undefined ? undefined : resolveTagged(value, core);
    if (resolved !== undefined) return { ...base, value: resolved };
    if (core === undefined) report(start, 'YAML_TAG', `the tag ${tag} is not known`, tagHint(tags));
    else report(start, 'YAML_TAG', `this value does not fit the tag ${tag}`, 'leave the tag out, or correct the value');
    return broken(start);
  };

  const alias = (event: Extract<Event, { type: typeof EVENT_ID.ALIAS }>): void => {
    const name = text.slice(event.anchorStart, event.anchorEnd);
    const start = base + event.anchorStart - 1;
    unclear++;
    lastEnd = event.anchorEnd;
    if (openAnchors.has(name)) {
      report(start, 'YAML_ALIAS_CYCLE', `*${name} is inside the value it names`, 'a value cannot contain itself');
      attach(broken(start), 0);
      return;
    }
    const target = anchors.get(name);
    if (target === undefined) {
      report(
        start,
        'YAML_UNKNOWN_ALIAS',
        `*${name} is an alias in YAML, and no &${name} comes before it`,
        `if you mean the text, quote it: "*${name}"`,
      );
      attach(broken(start), 0);
      return;
    }
    aliasWeight += target.weight;
    weight += target.weight;
    if (aliasWeight > MAX_ALIAS_WEIGHT) {
      report(start, 'YAML_ALIAS_BOMB', `aliases repeat more than ${MAX_ALIAS_WEIGHT} values`, 'write the values once');
      isBomb = true;
    } else if (frames.length + target.height > MAX_DEPTH) {
      report(start, 'YAML_TOO_DEEP', `*${name} nests deeper than ${MAX_DEPTH} levels`);
      attach(broken(start), 0);
    } else attach(target.node, target.height);
  };

  for (const event of events) {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        if (++documents > 1) {
          const marker = text.indexOf('\n---', lastEnd);
          const start = marker < 0 ? skipBlank(text, lastEnd) : marker + 1;
          report(
            start,
            'YAML_MULTIPLE_DOCUMENTS',
            'a second document starts here',
            'one file holds one document; remove the "---"',
          );
          return root;
        }
        break;
      case EVENT_ID.MAPPING:
        open(event, 'map');
        break;
      case EVENT_ID.SEQUENCE:
        open(event, 'seq');
        break;
      case EVENT_ID.SCALAR:
        scalar(event);
        break;
      case EVENT_ID.ALIAS:
        alias(event);
        break;
      case EVENT_ID.POP: {
        const frame = frames.pop();
        if (frame !== undefined) close(frame);
        break;
      }
    }
    if (isBomb) return undefined;
  }
  const isEmpty = root === undefined || (root.kind === 'scalar' && root.value === null && root.broken !== true);
  if (!isEmpty) return root;
  report(0, 'YAML_EMPTY', 'the file is empty');
  return undefined;
}

const SCALAR_STYLES = {
  [SCALAR_STYLE.PLAIN]: 'plain',
  [SCALAR_STYLE.SINGLE_QUOTED]: 'quoted',
  [SCALAR_STYLE.DOUBLE_QUOTED]: 'quoted',
  [SCALAR_STYLE.LITERAL_BLOCK]: 'block',
  [SCALAR_STYLE.FOLDED_BLOCK]: 'block',
} as const;

const isBlockText = ({ style }: ScalarEvent): boolean =>
  style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK;

const tagHint = (tags: ReadonlySet<string>): string =>
  tags.size === 0 ? 'leave the tag out' : `the tags known here: ${[...tags].join(', ')}`;

/** `<<: *base` and `<<: [*a, *b]`: keys already there win, and earlier maps win over later ones. */
function mergeInto(entries: Map<string, YamlEntry>, merge: YamlNode, report: Report): void {
  for (const node of merge.kind === 'seq' ? merge.items : [merge]) {
    if (node.kind === 'map') {
      for (const [key, entry] of node.entries) if (!entries.has(key)) entries.set(key, entry);
    } else if (node.kind === 'seq' || node.broken !== true) {
      report(node.start, 'YAML_MERGE', '"<<" takes a map, or a list of maps', 'for example: "<<: *base"');
    }
  }
}

/** The `|` or `>` before a block scalar, whose own offset is that of its first line. */
function blockHeader(text: string, valueStart: number): number {
  const lineEnd = valueStart - 1;
  const lineStart = text.lastIndexOf('\n', lineEnd - 1) + 1;
  const header = /[|>][-+0-9]{0,2}[ \t]*(?:#.*)?\r?$/.exec(text.slice(lineStart, lineEnd));
  return header === null ? valueStart : lineStart + header.index;
}

/** Past the quote and the brackets that end a value. */
function skipClosers(text: string, from: number): number {
  const closers = /[\s\]}"']*/y;
  closers.lastIndex = from;
  closers.test(text);
  return closers.lastIndex;
}

/** The next offset that is neither white space nor comment. */
function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const character = text.charCodeAt(at);
    if (character === 0x23) {
      const lineEnd = text.indexOf('\n', at);
      if (lineEnd < 0) return text.length;
      at = lineEnd;
    } else if (character !== 0x20 && (character < 0x09 || character > 0x0d)) return at;
    at++;
  }
  return at;
}

import { parseEvents, YAMLException } from 'js-yaml';
import { MAX_DEPTH } from './yaml-anchors.ts';
import { compose } from './yaml-compose.ts';
import type { YamlEntry, YamlMap, YamlNode, YamlSource } from './yaml-node.ts';
import { cutAtList, type TextPart } from './yaml-parts.ts';
import { PlainItems } from './yaml-plain-items.ts';

/** Something is unusual or wrong with a part: the whole text has to be read, to say what and where. */
class Unfit extends Error {}

/** Reads a text with a long list under a root key part by part. Undefined when it has to be read as a whole. */
export function composeInParts(
  source: YamlSource,
  tags: ReadonlySet<string>,
  key: string,
  /** Characters in a part, about. */
  size?: number,
): YamlNode | undefined {
  const parts = cutAtList(source.text, key, size);
  if (parts === undefined) return undefined;
  const read = (part: TextPart): YamlNode | undefined =>
    compose(parseEvents(part.text, { maxDepth: MAX_DEPTH - 1 }), {
      source,
      tags,
      report: giveUp,
      part,
    });
  const plain = new PlainItems(source, read);
  const readItems = (part: TextPart): readonly YamlNode[] | undefined => {
    const items = plain.read(part);
    if (items !== undefined) return items;
    const list = read(part);
    return list?.kind === 'seq' ? list.items : undefined;
  };
  try {
    const head = mapOf(read(parts.head));
    const entry = [...head.entries.values()].at(-1);
    if (entry?.key !== key || !isEmpty(entry.value)) return undefined;

    const items: YamlNode[] = [];
    for (const part of parts.items) {
      const list = readItems(part);
      if (list?.length !== part.count) return undefined;
      // Thousands of items would not fit into the arguments of one call.
      for (const item of list) items.push(item);
    }
    const start = source.text.indexOf('-', items.length === 0 ? 0 : parts.items[0]!.base);
    const entries = new Map<string, YamlEntry>(head.entries);
    entries.set(key, { ...entry, value: { kind: 'seq', source, start, end: -1, items } });
    if (parts.tail.text !== '') {
      for (const [name, after] of mapOf(read(parts.tail)).entries) {
        if (entries.has(name)) return undefined;
        entries.set(name, after);
      }
    }
    return { ...head, end: -1, entries };
  } catch (error) {
    if (error instanceof Unfit || error instanceof YAMLException) return undefined;
    throw error;
  }
}

const giveUp = (): never => {
  throw new Unfit();
};

function mapOf(node: YamlNode | undefined): YamlMap {
  return node?.kind === 'map' ? node : giveUp();
}

const isEmpty = (node: YamlNode): boolean =>
  node.kind === 'scalar' && node.value === null && node.style === 'plain';

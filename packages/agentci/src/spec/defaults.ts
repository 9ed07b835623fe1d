import type { YamlEntry, YamlMap, YamlNode } from '../kit/yaml-node.ts';

/**
 * Lays a query over the defaults: maps merge deep, lists and scalars replace, the query wins, and `key: null` switches a default off.
 * What only one side wrote stays the very same node, so it keeps its place and need not be checked twice.
 */
export function mergeMaps(base: YamlMap, over: YamlMap): YamlMap {
  const entries = new Map<string, YamlEntry>(base.entries);
  for (const entry of over.entries.values()) {
    const { key } = entry;
    const inherited = base.entries.get(key);
    if (inherited === undefined) entries.set(key, entry);
    else if (isNull(entry.value)) entries.delete(key);
    else if (entry.value.kind === 'map' && inherited.value.kind === 'map') {
      entries.set(key, { ...entry, value: mergeMaps(inherited.value, entry.value) });
    } else entries.set(key, entry);
  }
  return { kind: 'map', source: over.source, start: over.start, entries };
}

const isNull = (node: YamlNode): boolean => node.kind === 'scalar' && node.value === null && node.broken !== true;

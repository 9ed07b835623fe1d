import type { YamlEntry, YamlMap } from '@agentci/lib/yaml';
import { isNull } from './value-check.ts';

/**
 * Merges a query over the defaults: maps merge deeply, lists and scalars replace, the query wins,
 * and `key: null` removes a default. A node from one side only is kept unchanged, so it keeps its
 * place and need not be checked twice.
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

/** The entries of a map, by key. */
export const sortedEntries = (map: YamlMap): readonly YamlEntry[] => overlay([], map, replace);

/** Merges an entry that both sides have. */
type Meet = (inherited: YamlEntry, own: YamlEntry) => YamlEntry;

const replace: Meet = (_, own) => own;

export const meetDeep: Meet = (inherited, own) =>
  own.value.kind === 'map' && inherited.value.kind === 'map'
    ? { ...own, value: mergeMaps(inherited.value, own.value) }
    : own;

/** One level of `mergeMaps`, as entries sorted by key. */
export function overlay(base: readonly YamlEntry[], over: YamlMap, meet: Meet): YamlEntry[] {
  const entries = new Map(base.map((entry) => [entry.key, entry]));
  for (const entry of over.entries.values()) {
    const inherited = entries.get(entry.key);
    if (inherited !== undefined && isNull(entry.value)) entries.delete(entry.key);
    else entries.set(entry.key, inherited === undefined ? entry : meet(inherited, entry));
  }
  return [...entries.values()].sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key));
}

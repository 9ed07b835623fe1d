import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../adapter.ts';
import { tryBuild } from './build-trace.ts';
import type { Draft } from './draft.ts';
import {
  exchangeItems,
  hasPairs,
  pairItems,
  streamedReplies,
  type Wire,
  wholeReplies,
} from './exchanges.ts';
import { splitStreams } from './streams.ts';
import { fields } from './values.ts';

/** A provider's own API, as people record it. */
interface WireFormat {
  readonly format: string;
  readonly wire: Wire;
  /** Tried in order on the first record, after requests with responses. */
  readonly ways: readonly Way[];
  /** Fallback: all records together are one run. */
  readonly together: (values: readonly unknown[]) => Draft;
}

/** One way to store the records of a file. */
export interface Way {
  readonly fits: (value: unknown, records: readonly RawRecord[]) => boolean;
  readonly read: (
    records: readonly RawRecord[],
    of: Pick<WireFormat, 'format' | 'wire'>,
  ) => AdapterItem[];
}

/**
 * Reads recordings of a provider's API: pairs, conversations, whole or streamed replies, loose
 * messages.
 */
export function wireReader({ format, wire, ways, together }: WireFormat): Adapter['read'] {
  return (records) => {
    const [first] = records;
    if (first === undefined) return [];
    if (hasPairs(records)) return pairItems(records, wire, format);
    const way = ways.find(({ fits }) => fits(first.value, records));
    if (way !== undefined) return way.read(records, { format, wire });
    return tryBuild(first, () => together(records.map(({ value }) => value)));
  };
}

/** A whole conversation in each record, under this key. */
export const conversationsUnder = (key: string, draftOf: (value: Fields) => Draft): Way => ({
  fits: (value) => isFields(value) && Array.isArray(value[key]),
  read: (records) =>
    records.flatMap((record) => tryBuild(record, () => draftOf(fields(record.value)))),
});

/** Pieces of streamed replies, grouped by `key`. */
export const streamsOf = (
  fits: Way['fits'],
  key: () => (record: RawRecord, before: string | undefined) => string,
): Way => ({
  fits,
  read: (records, { wire, format }) =>
    exchangeItems(streamedReplies(splitStreams(records, key()), wire), format),
});

/** A whole reply in each record. */
export const repliesThat = (fits: Way['fits']): Way => ({
  fits,
  read: (records, { wire, format }) => exchangeItems(wholeReplies(records, wire), format),
});

/** Conversations are separate runs; anything else needs the whole file. */
export const recordsUnder =
  (key: string): Adapter['unit'] =>
  (sample) =>
    sample.every((value) => isFields(value) && Array.isArray(value[key])) ? 'record' : 'file';

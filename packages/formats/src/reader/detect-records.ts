import type { Adapter } from '../adapter.ts';
import { unwrap } from './unwrap.ts';
import { itemsOf, listKeys } from './wrapped-list.ts';

/**
 * The format of a recording. `candidates` lists matching formats, best first; two mean that it is
 * ambiguous.
 */
export interface Detection {
  /** Undefined when no format fits. */
  readonly format: string | undefined;
  /** From 0, nothing fits, to 1, certain. */
  readonly confidence: number;
  /** The formats tied for the best. With more than one, the caller must not guess. */
  readonly candidates: readonly { readonly format: string; readonly confidence: number }[];
  /** The name under which each record keeps a list of the format's records. */
  readonly wrapper?: string;
}

const AMBIGUITY = 0.1;
const FLOOR = 0.5;

/** The format of a few parsed records. */
export function detectRecords(sample: readonly unknown[], adapters: readonly Adapter[]): Detection {
  const values = sample.map((value) => unwrap(value).value);
  const ranked = adapters
    .map((adapter) => ({ format: adapter.format, confidence: adapter.detect(values) }))
    .filter(({ confidence }) => confidence > 0)
    .sort((a, b) => b.confidence - a.confidence);
  const best = ranked[0];
  if (best === undefined)
    return detectWrapped(values, adapters) ?? { format: undefined, confidence: 0, candidates: [] };
  const rivals = ranked.filter(
    ({ confidence }) => confidence >= FLOOR && best.confidence - confidence <= AMBIGUITY,
  );
  return { ...best, candidates: rivals.length === 0 ? [best] : rivals };
}

const SAMPLE_ITEMS = 20;
/** A list inside a record counts as the recording only if its format is certain. */
const CERTAIN = 0.9;

function detectWrapped(
  values: readonly unknown[],
  adapters: readonly Adapter[],
): Detection | undefined {
  for (const wrapper of listKeys(values)) {
    const items = values.flatMap((value) => itemsOf(value, wrapper) ?? []).slice(0, SAMPLE_ITEMS);
    const found = detectRecords(items, adapters);
    if (found.wrapper === undefined && found.confidence >= CERTAIN && found.candidates.length === 1)
      return { ...found, wrapper };
  }
  return undefined;
}

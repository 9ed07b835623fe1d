import type { Adapter } from '../adapter.ts';
import { unwrap } from './unwrap.ts';

/** Which format a recording is in. `candidates` has the ones that fit, best first; two of them mean it is ambiguous. */
export interface Detection {
  /** Undefined when no format fits. */
  readonly format: string | undefined;
  /** From 0, nothing fits, to 1, certain. */
  readonly confidence: number;
  /** The formats that are as good as the best; more than one is an answer the caller must not guess at. */
  readonly candidates: readonly { readonly format: string; readonly confidence: number }[];
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
  if (best === undefined) return { format: undefined, confidence: 0, candidates: [] };
  const rivals = ranked.filter(({ confidence }) => confidence >= FLOOR && best.confidence - confidence <= AMBIGUITY);
  return { ...best, candidates: rivals.length === 0 ? [best] : rivals };
}

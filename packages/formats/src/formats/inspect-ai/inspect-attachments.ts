import { type Fields, isFields } from '@agentci/trace';
import { fields } from '../../build/values.ts';

/** Restores texts that Inspect stores by reference. */
export interface Attachments {
  readonly resolve: (value: unknown) => unknown;
}

const REFERENCE = /^(?:attachment|tc):\/\/([0-9a-f]{8,128})$/;
const MAX_DEPTH = 64;

/**
 * Texts are stored once by hash: `attachment://HASH`, in older logs `tc://HASH`. An unknown hash
 * stays.
 */
export function attachmentsOf(sample: Fields): Attachments {
  const texts = { ...fields(fields(sample.transcript).content), ...fields(sample.attachments) };
  const resolve = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') {
      const hash = value.length < 160 ? REFERENCE.exec(value)?.[1] : undefined;
      return hash !== undefined && Object.hasOwn(texts, hash) ? texts[hash] : value;
    }
    if (depth >= MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((item) => resolve(item, depth + 1));
    if (!isFields(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, resolve(item, depth + 1)]),
    );
  };
  return { resolve: (value) => resolve(value, 0) };
}

import { metadataOf, ownField } from '../input.ts';
import type { MetricInput } from '../metric.ts';
import { pathOf } from './given-vectors.ts';

export type MediaKind = 'image' | 'audio' | 'video';

/**
 * Path of a media file: `metadata.<kind>_path`, else the agent's input in the trace. Never a
 * network address.
 */
export function mediaPath(input: MetricInput, kind: MediaKind): string | undefined {
  const written = pathOf(ownField(metadataOf(input), `${kind}_path`));
  if (written !== undefined) return written;
  for (const { uri } of mediaParts(input, kind)) {
    const path = uri?.replace(/^file:\/\/(?=\/)/, '');
    if (path !== undefined && path.trim() !== '' && !/^[a-z][a-z0-9+.-]+:/i.test(path)) return path;
  }
  return undefined;
}

/** Whether the agent was given media of that kind, from any source. */
export const hasMedia = (input: MetricInput, kind: MediaKind): boolean =>
  Boolean(ownField(metadataOf(input), `${kind}_path`)) || mediaParts(input, kind).length > 0;

const mediaParts = ({ trace }: MetricInput, kind: MediaKind) =>
  (trace?.task?.input ?? [])
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === 'media' && part.modality === kind ? [part] : []));

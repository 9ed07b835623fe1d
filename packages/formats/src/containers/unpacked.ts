import type { TraceProblem } from '../adapter.ts';

/** A value in a container, with its first line if the container is text. */
export interface UnpackedRecord {
  readonly value: unknown;
  readonly line?: number;
}

export interface Unpacked {
  readonly records: readonly UnpackedRecord[];
  /** Set if the container is part of the format. */
  readonly format?: string;
  readonly problems?: readonly Pick<TraceProblem, 'code' | 'message' | 'line'>[];
}

/** Maximum size of a container, which is unpacked at once. */
export const MAX_CONTAINER_BYTES = 256 * 1024 * 1024;

/** The recorder saw no request, which must not look like a passing recording. */
export const nothingRecorded = (what: string): Unpacked => ({
  records: [],
  problems: [{ code: 'TRACE_DAMAGED', message: `the ${what} has no requests`, line: 1 }],
});

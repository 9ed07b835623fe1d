import type { TraceProblem } from '../adapter.ts';

/** A value found in a container, with the line it starts on where the container is text. */
export interface UnpackedRecord {
  readonly value: unknown;
  readonly line?: number;
}

export interface Unpacked {
  readonly records: readonly UnpackedRecord[];
  /** Set where the container is part of the format. */
  readonly format?: string;
  readonly problems?: readonly Pick<TraceProblem, 'code' | 'message' | 'line'>[];
}

/** Containers are unpacked whole; beyond this they are refused. */
export const MAX_CONTAINER_BYTES = 256 * 1024 * 1024;

/** A recorder that was started and saw no request: said, so that its file does not look like one that passed. */
export const nothingRecorded = (what: string): Unpacked => ({
  records: [],
  problems: [{ code: 'TRACE_EMPTY', message: `the ${what} has no requests`, line: 1 }],
});

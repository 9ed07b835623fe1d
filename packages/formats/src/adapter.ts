import type { Trace } from '@agentci/trace';

/** A record as it came out of a file, with the place it came from. */
export interface RawRecord {
  readonly value: unknown;
  readonly file?: string;
  /** The line the record starts on; 1-based. */
  readonly line?: number;
  /** Position among the records of the file, from 1. Identifies records of a one-line list. */
  readonly index?: number;
}

/** A problem of one record. Its query becomes `error`, and reading continues. */
export interface TraceProblem {
  readonly code: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The record's id or query text if readable, so that the right query gets the error. */
  readonly id?: string;
  readonly query?: string;
}

export type AdapterItem =
  | { readonly ok: true; readonly trace: Trace }
  | { readonly ok: false; readonly problem: TraceProblem };

/** Reads one recording format into traces. Pure: records in, traces and problems out. */
export interface Adapter {
  /** The format id, e.g. `agentci`, `simple`, `otel-genai`. */
  readonly format: string;
  readonly summary: string;
  /** Confidence from a few parsed records: 0 = certainly not, 1 = certainly this format. */
  readonly detect: (sample: readonly unknown[]) => number;
  /**
   * Whether one record can belong to this format. Default: each record must be detected alone.
   * Formats with small records override this. An unrecognized record is a problem of that record.
   */
  readonly recognises?: (value: unknown) => boolean;
  /** Logs that people append to and private formats that grow: a record that no format knows is left to `read`. */
  readonly allowsStrays?: boolean;
  /**
   * `record`: every record is a whole run, so files are streamed. `file`: records must be joined
   * first (spans, events, messages). Formats with both decide from a sample.
   */
  readonly unit: Unit | ((sample: readonly unknown[]) => Unit);
  readonly read: (records: readonly RawRecord[]) => Iterable<AdapterItem>;
  /**
   * Reads a file of joined records incrementally, for formats whose runs can end before the file
   * does.
   */
  readonly open?: () => RecordSession;
}

export type Unit = 'record' | 'file';

/** An open file. Yields runs when they are complete, and the rest at the end. */
export interface RecordSession {
  readonly push: (records: readonly RawRecord[]) => Iterable<AdapterItem>;
  readonly end: () => Iterable<AdapterItem>;
}

import type { Trace } from '@agentci/trace';

/** A record as it came out of a file, with the place it came from. */
export interface RawRecord {
  readonly value: unknown;
  readonly file?: string;
  /** The line the record starts on; 1-based. */
  readonly line?: number;
  /** Its position among the file's records; 1-based. It tells records of a one-line list apart. */
  readonly index?: number;
}

/** Something wrong with one record. The reader passes it on; the record's query becomes `error`, the rest continues. */
export interface TraceProblem {
  readonly code: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The record's own id or query text, where it could still be read, so that the right query gets the error. */
  readonly id?: string;
  readonly query?: string;
}

export type AdapterItem =
  | { readonly ok: true; readonly trace: Trace }
  | { readonly ok: false; readonly problem: TraceProblem };

/** Reads one foreign recording format into traces. Pure: records in, traces and problems out. */
export interface Adapter {
  /** The format id, e.g. `agentci`, `simple`, `otel-genai`. */
  readonly format: string;
  readonly summary: string;
  /** 0 = certainly not, 1 = certainly this format; looks at a few parsed records only. */
  readonly detect: (sample: readonly unknown[]) => number;
  /**
   * Whether one record can be part of a recording in this format. Left out, a record on its own must be detected; a
   * format whose records tell little one by one says more here. What is not recognised is that record's problem.
   */
  readonly recognises?: (value: unknown) => boolean;
  /** Logs that people append to and private formats that grow: a record that no format knows is left to `read`. */
  readonly allowsStrays?: boolean;
  /**
   * `record`: every record is a whole run, so files are streamed.
   * `file`: records must be joined first (spans, events, messages), so the file's records are read together.
   * A format that comes both ways says which it is from a sample.
   */
  readonly unit: Unit | ((sample: readonly unknown[]) => Unit);
  readonly read: (records: readonly RawRecord[]) => Iterable<AdapterItem>;
  /** Reads a file of joined records piece by piece; for formats whose runs can end before the file does. */
  readonly open?: () => RecordSession;
}

export type Unit = 'record' | 'file';

/** A file being read: runs come out as they are complete, the rest at the end. */
export interface RecordSession {
  readonly push: (records: readonly RawRecord[]) => Iterable<AdapterItem>;
  readonly end: () => Iterable<AdapterItem>;
}

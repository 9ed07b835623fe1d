import type { YamlPlace } from '@agentci/lib/yaml';
import type { Literal } from './literal.ts';

/** Where something is written in a source file, by the name the user knows it under. */
export interface Place {
  readonly file: string;
  readonly line: number;
  /** The exact place, if the suite is read from nodes to be run as it is. */
  readonly at?: YamlPlace;
}

/** `exact`: the same verdict on every answer. `close`: written only with `--lossy`. `none`: not carried. */
export type Verdict = 'exact' | 'close' | 'none';

/** What one assertion, or one setting, of the source became. */
export interface Finding extends Place {
  readonly type: string;
  readonly verdict: Verdict;
  /** The check it became, e.g. `correctness.regex_match`. */
  readonly target?: string;
  readonly why?: string;
  /** If the suite is run as it is, what makes the finding a problem of a spec. */
  readonly problem?: { readonly code: string; readonly hint?: string };
  /** The assertion as it was read: one that several cases share is one line of the report. */
  readonly origin?: object;
}

export type Layer = 'correctness' | 'path' | 'cost';

/** What a block of checks may hold: plain data, and texts that are inserted into patterns. */
export type BlockValue =
  | null
  | boolean
  | number
  | string
  | Literal
  | readonly BlockValue[]
  | { readonly [key: string]: BlockValue };
export type Block = { readonly [key: string]: BlockValue };

/** One block of checks of one layer. */
export interface Part {
  readonly layer: Layer;
  readonly block: Block;
}

/** One assertion and the blocks that say the same: all of them must hold. `none` has no blocks. */
export interface Carried {
  readonly finding: Finding;
  readonly parts: readonly Part[];
  /** Assertions inside this one (of an assert-set, of a combinator): they share its fate in the report. */
  readonly members?: readonly Finding[];
  /** It became the policy of the case, which has no layer. */
  readonly isPolicy?: true;
}

export interface Turn {
  readonly turn: number;
  readonly carried: readonly Carried[];
}

/** A scripted or simulated user. */
export type Talk = Block;

export interface ConvertedCase {
  readonly place: Place;
  /** What the source calls it; made unique and fit for file names when written. */
  readonly name: string;
  readonly query: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Block;
  readonly expectedOutput?: string;
  readonly context?: readonly string[];
  readonly vars?: Block;
  readonly runs?: number;
  readonly conversation?: Talk;
  readonly policy?: BlockValue;
  readonly carried: readonly Carried[];
  readonly turns?: readonly Turn[];
  /** Why the case cannot be run or judged as its source meant it, whatever its checks are. */
  readonly skip?: string;
  /** It judges all recordings together, which no query does: only a run of the suite itself can. */
  readonly overall?: OverallTest;
  /** What was recorded for it: the source holds runs as well as expectations. */
  readonly recording?: Block;
}

/** A test over all recordings, as Assay has them. */
export type OverallTest =
  | {
      readonly metric: 'args_valid' | 'sequence_valid' | 'tool_blocklist';
      /** A path, or the policy itself. */
      readonly policy: unknown;
      readonly tools?: unknown;
      readonly strict: boolean;
    }
  | {
      readonly metric: 'module';
      readonly module: string;
      readonly export: unknown;
      readonly config: unknown;
      readonly timeoutMs: unknown;
    };

/** A suite of another tool, read. */
export interface ConvertedSuite {
  readonly agent?: string;
  readonly runner?: Block;
  /** What is different about the runner; such a one is written only with `--lossy`. */
  readonly closeRunner?: string;
  readonly matrix?: Block;
  readonly judge?: Block;
  readonly cases: readonly ConvertedCase[];
  /** Providers, prompts, transforms: what is not an assertion and was carried or not. */
  readonly settings: readonly Finding[];
}

export const EMPTY_SUITE: ConvertedSuite = { cases: [], settings: [] };

/** Makes findings of one kind of source. */
export function carry(
  place: Place,
  type: string,
  verdict: 'exact' | 'close',
  parts: readonly Part[],
  why?: string,
): Carried {
  const target = [...new Set(parts.flatMap(({ layer, block }) => targetsOf(layer, block)))].join(
    ', ',
  );
  return {
    finding: { ...place, type, verdict, target, why },
    parts,
  };
}

/** An assertion that is not carried. */
export const refuse = (
  place: Place,
  type: string,
  why: string,
  problem?: Finding['problem'],
): Carried => ({
  finding: { ...place, type, verdict: 'none', why, problem },
  parts: [],
});

const SETTINGS = new Set(['severity', 'case_sensitive']);
const targetsOf = (layer: Layer, block: Block): string[] =>
  Object.keys(block)
    .filter((key) => !SETTINGS.has(key))
    .map((key) => `${layer}.${key}`);

export const correctness = (block: Block): Part => ({ layer: 'correctness', block });
/** Path and cost checks warn unless told otherwise; in the tools converted from, such a failure fails the case. */
export const path = (block: Block): Part => ({ layer: 'path', block });
export const cost = (block: Block): Part => ({ layer: 'cost', block });

import type { YamlPlace } from '@agentci/lib/yaml';
import type { Literal } from './literal.ts';

/** A place in a source file, with the file name that the user knows. */
export interface Place {
  readonly file: string;
  readonly line: number;
  /** The exact place, if the suite is read from nodes to run directly. */
  readonly at?: YamlPlace;
}

/**
 * `exact`: the same verdict on every answer. `close`: written only with `--lossy`. `none`: not
 * carried.
 */
export type Verdict = 'exact' | 'close' | 'none';

/** The result of converting one assertion, or one setting. */
export interface Finding extends Place {
  readonly type: string;
  readonly verdict: Verdict;
  /** The resulting check, such as `correctness.regex_match`. */
  readonly target?: string;
  readonly why?: string;
  /** The problem to report for the finding if the suite is run directly. */
  readonly problem?: { readonly code: string; readonly hint?: string };
  /** The parsed assertion. If several cases share it, it is one line of the report. */
  readonly origin?: object;
}

export type Layer = 'correctness' | 'path' | 'cost';

/** The content of a block of checks: plain data, and texts to insert into patterns. */
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

/** One assertion and its equivalent blocks, which must all hold. `none` has no blocks. */
export interface Carried {
  readonly finding: Finding;
  readonly parts: readonly Part[];
  /**
   * Assertions inside this one (of an assert-set, of a combinator). They share its result in the
   * report.
   */
  readonly members?: readonly Finding[];
  /** The assertion became part of the case's policy, so it belongs to no layer. */
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
  /** The name in the source. Made unique and valid for file names when it is written. */
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
  /**
   * The reason why the case cannot be run or judged as in its source, independent of its checks.
   */
  readonly skip?: string;
  /** It judges all recordings together, which no query does. Only a direct run of the suite can. */
  readonly overall?: OverallTest;
  /** Its recording. The source contains runs as well as expectations. */
  readonly recording?: Block;
}

/** A test over all recordings, as in Assay. */
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

/** A parsed suite of another tool. */
export interface ConvertedSuite {
  readonly agent?: string;
  readonly runner?: Block;
  /** The differences of the runner. A different runner is written only with `--lossy`. */
  readonly closeRunner?: string;
  readonly matrix?: Block;
  readonly judge?: Block;
  readonly cases: readonly ConvertedCase[];
  /** Providers, prompts, transforms: all parts besides assertions, carried or not. */
  readonly settings: readonly Finding[];
}

export const EMPTY_SUITE: ConvertedSuite = { cases: [], settings: [] };

/** Creates findings for one kind of source. */
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
/** Path and cost checks warn by default. In the source tools such a failure fails the case. */
export const path = (block: Block): Part => ({ layer: 'path', block });
export const cost = (block: Block): Part => ({ layer: 'cost', block });

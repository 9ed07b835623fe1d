import type { Location } from '@agentci/lib/problems';
import type { IntervalJson } from './experiment-result.ts';
import type { Layer } from './run-result.ts';

/** The JSON contract of `agentci mutate`. */
export const MUTATION_SCHEMA = 'agentci.mutation/1';

/** Number of detected mutants. */
export interface MutationScore {
  noticed: number;
  mutants: number;
  /** `null` if there are none. */
  rate: number | null;
  ci95: IntervalJson | null;
}

/** A suggested check that passes on the good recordings and detects the mutant. */
export interface SurvivorAdvice {
  layer: Layer;
  check: string;
  /** The turn under which it goes. */
  turn?: number;
  /** The value of its key, merged with the query's present value. */
  value: unknown;
  /** The line to add under its layer or turn. */
  yaml: string;
  /** Location of the present value: in the query or in `defaults`. */
  keeps?: Location;
  /** It fits only one row of a query with several. */
  per_row?: boolean;
}

/** An undetected mutant. */
export interface Survivor {
  /** Its id, with the cell if the spec has a matrix: `refund (model=a)`. */
  query: string;
  /** Location of the good recording: `traces.jsonl:3`. */
  recording?: string;
  operator: string;
  layer: Layer;
  /** The change, as the subject of "… goes unnoticed". */
  what: string;
  /** Absent if no check was found that passes on the good recordings and detects this. */
  advice?: SurvivorAdvice;
  /**
   * The query already has that check, which should have detected it. Its limit is too wide, or its
   * terms are not specific enough.
   */
  meant: boolean;
  /** The check that should have detected it. */
  meant_by?: string;
  /** The location of the query in the spec. */
  location?: Location;
}

/** A check with the same verdict on every mutant. */
export interface IdleCheck {
  query: string;
  check: string;
  location?: Location;
}

export interface MutationResult {
  schema: typeof MUTATION_SCHEMA;
  agent: string;
  spec: { file: string; hash: string };
  seed: number;
  /** Mutated recordings. */
  recordings: number;
  /** Recordings that were left out, with the reason. */
  left_out: { query: string; why: string }[];
  /** Mutants equal to their recording, which do not count. */
  equal: number;
  /** Locations beyond the budget. */
  not_tried: number;
  score: MutationScore;
  /**
   * Among mutants that an existing check of the query should detect, because the check covers the
   * changed word, tool, argument or count.
   */
  meant: { noticed: number; mutants: number };
  layers: Record<Layer, MutationScore>;
  operators: { name: string; layer: Layer; summary: string; noticed: number; mutants: number }[];
  survivors: Survivor[];
  /**
   * Undetected by every check that needs no model, in queries with rubrics. Only the judge could
   * tell.
   */
  for_the_judge: Survivor[];
  idle_checks: IdleCheck[];
  /** Checks without a relevant mutant, because `--operators` or the budget excluded them. */
  untried_checks: IdleCheck[];
  /** Checks that already warn on a good recording, so they cannot detect its mutants. */
  already_violated: (IdleCheck & { message: string })[];
  /** Selected queries without a good recording. */
  uncovered: string[];
  notices: string[];
  summary: {
    exit_code: number;
    min_score?: number;
    /** Why the score could not be compared with `min_score`. */
    undecided?: string;
  };
}

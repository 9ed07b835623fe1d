import type { Location } from '@agentci/lib/problems';
import type { IntervalJson } from './experiment-result.ts';
import type { Layer } from './run-result.ts';

/** The JSON contract of `agentci mutate`. */
export const MUTATION_SCHEMA = 'agentci.mutation/1';

/** How many mutants were noticed. */
export interface MutationScore {
  noticed: number;
  mutants: number;
  /** `null` of none. */
  rate: number | null;
  ci95: IntervalJson | null;
}

/** A check that was tried: it holds on the good recordings and notices the mutant. */
export interface SurvivorAdvice {
  layer: Layer;
  check: string;
  /** The turn it is for: it goes under `turns`. */
  turn?: number;
  /** What to write after its key, with all that the query has there already. */
  value: unknown;
  /** The line to add under its layer, or under that of its turn. */
  yaml: string;
  /** Where what the query has there already is written: in the query or in `defaults`. */
  keeps?: Location;
  /** It fits one row only, so it cannot be added to the query, which has several. */
  per_row?: boolean;
}

/** A mutant that no check noticed. */
export interface Survivor {
  /** Its id, with the cell after it where the spec has a matrix: `refund (model=a)`. */
  query: string;
  /** Where the good recording is, as `traces.jsonl:3`. */
  recording?: string;
  operator: string;
  layer: Layer;
  /** What was done, as the subject of "… goes unnoticed". */
  what: string;
  /** Absent where no check was found that holds on the good recordings and notices this. */
  advice?: SurvivorAdvice;
  /** The query has that check already, and it should have noticed: a limit is too wide, or the words are not the telling ones. */
  meant: boolean;
  /** The check that should have noticed. */
  meant_by?: string;
  /** The query in the spec. */
  location?: Location;
}

/** A check that gave the same verdict on every mutant. */
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
  /** Good recordings that were changed. */
  recordings: number;
  /** Recordings that were not, and why. */
  left_out: { query: string; why: string }[];
  /** Mutants that came out equal to their recording: they are not counted. */
  equal: number;
  /** Places that the budget did not reach. */
  not_tried: number;
  score: MutationScore;
  /**
   * Of the mutants that a check of their query is meant to catch: it has the advised check already, and the check is about
   * what was changed (the word, tool or argument it names; for a limit, what it counts).
   */
  meant: { noticed: number; mutants: number };
  layers: Record<Layer, MutationScore>;
  operators: { name: string; layer: Layer; summary: string; noticed: number; mutants: number }[];
  survivors: Survivor[];
  /** Unnoticed by every check that needs no model, in queries with rubrics: only the judge could tell. */
  for_the_judge: Survivor[];
  idle_checks: IdleCheck[];
  /** Checks of which no change that was tried could say anything: `--operators` or the budget left them out. */
  untried_checks: IdleCheck[];
  /** Checks that a good recording violates already, as a warning: they have nothing left to say about its mutants. */
  already_violated: (IdleCheck & { message: string })[];
  /** Queries that were to be looked at and have no good recording. */
  uncovered: string[];
  notices: string[];
  summary: {
    exit_code: number;
    min_score?: number;
    /** Why the score could not be held against `min_score`. */
    undecided?: string;
  };
}

import type { Location } from '../kit/diagnostic.ts';
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

/** A mutant that no check noticed. */
export interface Survivor {
  query: string;
  /** Where the good recording is, as `traces.jsonl:3`. */
  recording?: string;
  operator: string;
  layer: Layer;
  /** What was done, as the subject of "… goes unnoticed". */
  what: string;
  /** A check that would notice, and the line to add under its layer. */
  advice: { layer: Layer; check: string; yaml: string };
  /** The query has that check already, and it should have noticed: a limit is too wide, or the words are not the telling ones. */
  meant: boolean;
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
  notices: string[];
  summary: { exit_code: number; min_score?: number };
}

import type { ProblemSink } from '../kit/problems.ts';
import type { ValueSchema } from '../kit/value-schema.ts';
import type { YamlEntry } from '../kit/yaml-node.ts';

/**
 * Who looks closer at what the reader of a spec cannot accept at once. Its knowledge (every metric, the words for every mistake) takes longer to
 * load than most specs take to read, so a spec is first read without.
 */
export interface Expert {
  /** Reports what is wrong with a value. True when nothing is after all. */
  explain(entry: YamlEntry, schema: ValueSchema, problems: ProblemSink): boolean;
  /** The same for the bounds and parameters of a metric. */
  explainMetric(name: string, entry: YamlEntry, problems: ProblemSink): boolean;
}

/** A spec read without an expert needs one: it has to be read again. */
export class ExpertNeeded extends Error {}

/** The same where it is the engine for expressions that is missing. */
export class EngineNeeded extends ExpertNeeded {}

const needed = (): never => {
  throw new ExpertNeeded('this spec cannot be read without the expert');
};

/** Stands in for the expert until there is a question. */
export const ABSENT_EXPERT: Expert = { explain: needed, explainMetric: needed };

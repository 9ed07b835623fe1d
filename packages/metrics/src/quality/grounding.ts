import { foldText } from '@agentci/lib/text';
import { v } from '@agentci/lib/values';
import { answerOf, contextsOf } from '../input.ts';
import { defineMetric, type Found, type MetricInput, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';

/** The input of a grounded metric: an answer and its source texts. */
export interface Grounded {
  readonly input: MetricInput;
  readonly answer: string;
  readonly contexts: readonly string[];
  readonly detail: Readonly<Record<string, unknown>>;
}

interface GroundedMetric {
  readonly name: string;
  readonly better?: 'lower';
  /** Required context, in words. */
  readonly context: string;
  readonly summary: string;
  /** Omits the contexts from the detail. */
  readonly hidesContexts?: true;
  /** Computes the value from which contexts appear verbatim in the answer. */
  readonly lexical: (contained: readonly boolean[]) => number;
  readonly model: (asked: Grounded) => Promise<Found>;
}

/**
 * `lexical` compares texts, `model` calls the judge. Never guessed, because a bound belongs to a
 * method.
 */
const methodParams = () =>
  metricParams({
    method: v.enum(['lexical', 'model']).default('lexical').describe('how it is measured'),
  });

/** Defines a metric of an answer and its context, by text comparison or judge. */
export function defineGrounded({
  name,
  better,
  context,
  summary,
  hidesContexts,
  lexical,
  model,
}: GroundedMetric) {
  return defineMetric({
    name,
    group: 'quality',
    layer: 'correctness',
    better,
    needs: [context, 'an answer', 'a judge for method: model'],
    summary,
    params: methodParams,
    evaluate: (input) => {
      const answer = answerOf(input);
      const contexts = contextsOf(input);
      const { method } = input.params;
      const detail = {
        answer,
        references: hidesContexts ? undefined : contexts,
        method,
      };
      if (contexts.length === 0) return notMeasured('no context', detail);
      if (answer === undefined) return notMeasured('no answer captured', detail);
      if (answer.trim() === '') return notMeasured('the answer is blank', detail);
      if (method === 'lexical')
        return measured(lexical(containedContexts(contexts, answer)), detail);
      return model({ input, answer, contexts, detail });
    },
  });
}

/** Which contexts appear verbatim in the answer, ignoring case. */
function containedContexts(contexts: readonly string[], answer: string): boolean[] {
  const folded = foldText(answer);
  return contexts.map((context) => folded.includes(foldText(context)));
}

export const shareContained = (contained: readonly boolean[]): number =>
  contained.filter(Boolean).length / contained.length;

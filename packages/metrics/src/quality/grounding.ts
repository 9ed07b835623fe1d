import { foldText } from '@agentci/lib/text';
import { v } from '@agentci/lib/values';
import { answerOf, contextsOf } from '../input.ts';
import { defineMetric, type Found, type MetricInput, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';

/** What a grounded metric is asked about: an answer and the texts it should rest on. */
export interface Grounded {
  readonly input: MetricInput;
  readonly answer: string;
  readonly contexts: readonly string[];
  readonly detail: Readonly<Record<string, unknown>>;
}

interface GroundedMetric {
  readonly name: string;
  readonly better?: 'lower';
  /** What the context must be. */
  readonly context: string;
  readonly summary: string;
  /** Leaves the contexts out of the detail. */
  readonly hidesContexts?: true;
  /** From which of the contexts are word for word in the answer. */
  readonly lexical: (contained: readonly boolean[]) => number;
  readonly model: (asked: Grounded) => Promise<Found>;
}

/** `lexical` looks for texts in texts; `model` asks the judge. Written, never guessed: a bound belongs to a method. */
const methodParams = () =>
  metricParams({
    method: v.enum(['lexical', 'model']).default('lexical').describe('how it is measured'),
  });

/** A metric of an answer and its context, measured by comparing texts or by asking the judge. */
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

/** Which of the contexts are word for word in the answer, without regard to case. */
function containedContexts(contexts: readonly string[], answer: string): boolean[] {
  const folded = foldText(answer);
  return contexts.map((context) => folded.includes(foldText(context)));
}

/** The share of contexts that the answer repeats. */
export const shareContained = (contained: readonly boolean[]): number =>
  contained.filter(Boolean).length / contained.length;

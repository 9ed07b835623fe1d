import { answerOf, caseOf, contextsOf, expectedOf } from '../input.ts';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { containedContexts, methodParams } from './grounding.ts';

export const metric = defineMetric({
  name: 'retrieval_quality',
  group: 'quality',
  layer: 'correctness',
  needs: ['context in its ranked order', 'an answer', 'a judge for method: model'],
  summary: 'average precision of the retrieved texts (lexical: share of them that the answer repeats)',
  params: methodParams,
  evaluate: (input) => {
    const answer = answerOf(input);
    const references = contextsOf(input);
    const { method } = input.params;
    const detail = { references, ...(answer === undefined ? {} : { answer }), method };
    if (references.length === 0) return notMeasured('no context', detail);
    if (answer === undefined) return notMeasured('no answer captured', detail);
    if (answer.trim() === '') return notMeasured('the answer is blank', detail);
    if (method === 'lexical') {
      const contained = containedContexts(references, answer).filter(Boolean).length;
      return measured(contained / references.length, detail);
    }
    return import('./context-precision.ts').then(({ contextPrecision }) =>
      contextPrecision({
        judge: input.judge,
        detail,
        query: caseOf(input).query,
        contexts: references,
        answer: expectedOf(input) ?? answer,
      }),
    );
  },
});

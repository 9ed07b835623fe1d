import { answerOf, caseOf, contextsOf } from '../input.ts';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { containedContexts, methodParams } from './grounding.ts';

export const metric = defineMetric({
  name: 'faithfulness',
  group: 'quality',
  layer: 'correctness',
  needs: ['context', 'an answer', 'a judge for method: model'],
  summary: 'how much of the answer the context supports (lexical: how much of the context the answer repeats)',
  params: methodParams,
  evaluate: (input) => {
    const answer = answerOf(input);
    const references = contextsOf(input);
    const { method } = input.params;
    const detail = { ...(answer === undefined ? {} : { answer }), references, method };
    if (references.length === 0) return notMeasured('no context', detail);
    if (answer === undefined) return notMeasured('no answer captured', detail);
    if (answer.trim() === '') return notMeasured('the answer is blank', detail);
    if (method === 'lexical') {
      const contained = containedContexts(references, answer).filter(Boolean).length;
      return measured(contained / references.length, detail);
    }
    return import('./model-method.ts').then(({ byModel, claimsOf, supportOf }) =>
      byModel(input.judge, detail, async (desk) => {
        const claims = await claimsOf(desk, answer, caseOf(input).query);
        if (claims.length === 0) return notMeasured('the answer claims nothing');
        const verdicts = await supportOf(desk, claims, references);
        const supported = verdicts.filter(({ verdict }) => verdict === 1).length;
        return measured(supported / claims.length, { claims: claims.length, supported, verdicts });
      }),
    );
  },
});

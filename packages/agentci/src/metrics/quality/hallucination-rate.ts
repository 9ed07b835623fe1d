import { answerOf, caseOf, contextsOf } from '../input.ts';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { containedContexts, methodParams } from './grounding.ts';

export const metric = defineMetric({
  name: 'hallucination_rate',
  group: 'quality',
  layer: 'correctness',
  better: 'lower',
  needs: ['context', 'an answer', 'a judge for method: model'],
  summary: 'share of what the answer claims that the context does not support (lexical: 0 or 1)',
  params: methodParams,
  evaluate: (input) => {
    const answer = answerOf(input);
    const references = contextsOf(input);
    const { method } = input.params;
    const detail = { ...(answer === undefined ? {} : { answer }), method };
    if (references.length === 0) return notMeasured('no context', detail);
    if (answer === undefined) return notMeasured('no answer captured', detail);
    if (answer.trim() === '') return notMeasured('the answer is blank', detail);
    if (method === 'lexical') return measured(containedContexts(references, answer).every(Boolean) ? 0 : 1, detail);
    return import('./model-method.ts').then(({ byModel, claimsOf, supportOf }) =>
      byModel(input.judge, detail, async (desk) => {
        const claims = await claimsOf(desk, answer, caseOf(input).query);
        if (claims.length === 0) return notMeasured('the answer claims nothing');
        const verdicts = await supportOf(desk, claims, references);
        const unsupported = verdicts.filter(({ verdict }) => verdict === 0).length;
        return measured(unsupported / claims.length, { claims: claims.length, unsupported, verdicts });
      }),
    );
  },
});

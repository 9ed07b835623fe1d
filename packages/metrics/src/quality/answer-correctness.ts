import { v } from '@agentci/lib/values';
import { answerOf, caseOf, expectedOf } from '../input.ts';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';

const params = () =>
  metricParams({
    method: v.enum(['lexical', 'model']).default('lexical').describe('how it is measured'),
    similarity_weight: v
      .number()
      .min(0)
      .max(1)
      .default(0.25)
      .describe('share of the embedding similarity, model only'),
  });

export const metric = defineMetric({
  name: 'answer_correctness',
  group: 'quality',
  layer: 'correctness',
  needs: ['expected_output', 'an answer', 'a judge for method: model'],
  summary:
    'agreement with the expected answer (lexical: 1 when equal, else 0; model: F1 of statements)',
  params,
  evaluate: (input) => {
    const answer = answerOf(input);
    const expected = expectedOf(input);
    const { method, similarity_weight } = input.params;
    const detail = { expected: expected ?? null, answer, method };
    if (expected === undefined) return notMeasured('no expected_output', detail);
    if (expected.trim() === '') return notMeasured('expected_output is blank', detail);
    if (answer === undefined) return notMeasured('no answer captured', detail);
    if (answer.trim() === expected.trim()) return measured(1, { ...detail, exact: true });
    if (method === 'lexical') return measured(0, detail);
    return import('./statement-f1.ts').then(({ statementF1 }) =>
      statementF1({
        judge: input.judge,
        models: input.models,
        detail,
        query: caseOf(input).query,
        answer,
        expected,
        similarityWeight: similarity_weight,
      }),
    );
  },
});

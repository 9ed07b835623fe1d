import { v } from '@agentci/lib/values';
import { defineMetric, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { saidIn } from './said.ts';

const params = () =>
  metricParams({
    topics: v
      .array(v.string().regex(/\S/))
      .min(1)
      .optional()
      .describe('what the agent may talk about'),
  });

export const metric = defineMetric({
  name: 'topic_adherence',
  group: 'conversation',
  layer: 'correctness',
  needs: ['the parameter topics', 'the answer of every turn', 'a judge'],
  summary: 'share of turns in which the agent keeps to its topics, or declines other topics',
  params,
  evaluate: async (input) => {
    const { topics } = input.params;
    if (topics === undefined) return notMeasured('no topics: write the parameter "topics"');
    const said = saidIn(input);
    if (typeof said === 'string') return notMeasured(said);
    const { judgeTurns } = await import('./judged-turns.ts');
    return judgeTurns(input, said, {
      id: 'metric.topic-adherence',
      blocks: [{ name: 'topics', text: topics.map((topic) => `- ${topic}`).join('\n') }],
      question:
        '1: the answer is about the topics in the block "topics", is a courtesy, or declines a request outside them. 0: it helps with something outside them, or declines a request that is about them.',
    });
  },
});

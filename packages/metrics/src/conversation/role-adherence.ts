import { v } from '@agentci/lib/values';
import { defineMetric, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { saidIn } from './said.ts';

const params = () =>
  metricParams({
    role: v.string().regex(/\S/).optional().describe('who the agent is, and what it must not do'),
  });

export const metric = defineMetric({
  name: 'role_adherence',
  group: 'conversation',
  layer: 'correctness',
  needs: ['the parameter role', 'the answer of every turn', 'a judge'],
  summary: 'share of turns in which the agent stays in its role',
  params,
  evaluate: async (input) => {
    const { role } = input.params;
    if (role === undefined) return notMeasured('no role: write the parameter "role"');
    const said = saidIn(input);
    if (typeof said === 'string') return notMeasured(said);
    const { judgeTurns } = await import('./judged-turns.ts');
    return judgeTurns(input, said, {
      id: 'metric.role-adherence',
      blocks: [{ name: 'role', text: role }],
      question:
        '1: what the agent says fits the block "role". 0: it speaks as someone else, or does something that the role does not allow.',
    });
  },
});

import { defineMetric, notMeasured } from '../metric.ts';
import { saidIn } from './said.ts';

export const metric = defineMetric({
  name: 'knowledge_retention',
  group: 'conversation',
  layer: 'correctness',
  needs: ['the answer of every turn', 'two turns or more', 'a judge'],
  summary: 'share of later turns in which the agent remembers what the user said before',
  evaluate: async (input) => {
    const said = saidIn(input);
    if (typeof said === 'string') return notMeasured(said);
    if (said.length < 2)
      return notMeasured('the conversation has one turn: nothing could be forgotten');
    const { judgeTurns } = await import('./judged-turns.ts');
    return judgeTurns(input, said, {
      id: 'metric.knowledge-retention',
      about: said.slice(1),
      question:
        '1: the answer fits everything the user said before that turn. 0: the agent asks for something the user has already given, forgets it, or contradicts it. Asking the user to confirm a value that it repeats is not forgetting.',
    });
  },
});

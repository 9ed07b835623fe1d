import { defineMetric, notMeasured } from '../metric.ts';
import { saidIn } from './said.ts';

export const metric = defineMetric({
  name: 'turn_relevancy',
  group: 'conversation',
  layer: 'correctness',
  needs: ['the answer of every turn', 'a judge'],
  summary: 'share of turns whose answer addresses what the user said',
  evaluate: async (input) => {
    const said = saidIn(input);
    if (typeof said === 'string') return notMeasured(said);
    const { judgeTurns } = await import('./judged-turns.ts');
    return judgeTurns(input, said, {
      id: 'metric.turn-relevancy',
      question:
        '1: the answer responds to what the user said in that turn, or asks for something needed to do so. 0: it misses the point, answers something else, or is empty talk.',
    });
  },
});

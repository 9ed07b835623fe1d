import { handoffs } from '../../trace/selectors.ts';
import { textsIn } from '../answer-words.ts';
import { withoutStep } from '../edit-trace.ts';
import { defineOperator } from '../operator.ts';
import { yamlValue } from '../yaml-words.ts';

export const operator = defineOperator({
  name: 'lost-handoff',
  layer: 'path',
  summary: 'the run is not handed to the other agent',
  sites: (trace) =>
    handoffs(trace).map((step) => ({
      what: `dropping the handoff to \`${step.to}\``,
      make: () => withoutStep(trace, step),
      advice: {
        layer: 'path',
        key: 'expected_handoff',
        yaml: `expected_handoff: ${yamlValue(step.to)}`,
        isAbout: (written) => textsIn(written).includes(step.to),
      },
    })),
});

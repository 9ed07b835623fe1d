import { fields, label, unpacked } from '../../build/values.ts';
import { type Dialect, fate } from '../dialect.ts';
import { observationStep } from '../observation.ts';

const PREFIX = 'langfuse.observation.';

/** Langfuse's SDK: type, input, output, usage and cost of an observation in its own attributes. */
export const langfuse: Dialect = {
  name: 'langfuse',
  matches: ({ attributes }) => typeof attributes[`${PREFIX}type`] === 'string',
  read: (span) => {
    const at = (name: string): unknown => span.attributes[`${PREFIX}${name}`];
    const isError = at('level') === 'ERROR';
    return observationStep({
      type: String(at('type')),
      name: span.name,
      input: at('input'),
      output: at('output'),
      model: label(at('model.name')),
      usage: fields(unpacked(at('usage_details'))),
      cost: fields(unpacked(at('cost_details'))),
      fate: isError
        ? { status: 'error', error: { message: label(at('status_message')) ?? '' } }
        : fate(span),
    });
  },
};

import { argumentSites } from '../arguments.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'missing-argument',
  layer: 'path',
  summary: 'an argument is left out',
  sites: (trace) => argumentSites(trace, (_, key) => ({ what: `no \`${key}\``, value: undefined })),
});

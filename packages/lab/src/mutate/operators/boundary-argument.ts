import { type ArgumentChange, argumentSites } from '../arguments.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'boundary-argument',
  layer: 'path',
  summary: 'an argument is off by one, or empty',
  sites: (trace) => argumentSites(trace, atBoundary),
});

function atBoundary(value: unknown, key: string): ArgumentChange | undefined {
  if (typeof value === 'number') return { what: `\`${key}\` as ${value + 1}`, value: value + 1 };
  if (typeof value === 'string' && value !== '') return { what: `\`${key}\` empty`, value: '' };
  if (Array.isArray(value) && value.length > 0)
    return { what: `\`${key}\` as an empty list`, value: [] };
  return undefined;
}

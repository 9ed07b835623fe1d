import { clip } from '@agentci/lib/text';
import { type ArgumentChange, argumentSites } from '../arguments.ts';
import { defineOperator } from '../operator.ts';

const MAX_SHOWN = 40;

export const operator = defineOperator({
  name: 'wrong-argument',
  layer: 'path',
  summary: 'an argument has another value',
  sites: (trace) => argumentSites(trace, wrong),
});

function wrong(value: unknown, key: string): ArgumentChange | undefined {
  const other = otherValue(value);
  if (other === undefined) return undefined;
  return { what: `\`${key}\` as ${clip(JSON.stringify(other), MAX_SHOWN)}`, value: other };
}

function otherValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value * 10) ? value * 10 + 7 : 7;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return value === '' ? 'something' : `not ${value}`;
  return undefined;
}

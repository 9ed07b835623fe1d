import { label } from '../../build/values.ts';
import type { Dialect, Reading } from '../dialect.ts';
import { readGenAi } from './genai.ts';

/** Strands: GenAI names, content in span events, and its own tool status. */
export const strands: Dialect = {
  name: 'strands',
  matches: ({ scope, attributes }) =>
    scope === 'strands.telemetry.tracer' ||
    scope === 'strands-agents' ||
    attributes['gen_ai.system'] === 'strands-agents',
  read: (span) => {
    const { attributes } = span;
    const read = readGenAi(span);
    const [step] = Array.isArray(read)
      ? (read as readonly Reading[])
      : [read as Reading | undefined];
    if (step?.kind !== 'tool') return read;
    const said = label(attributes['gen_ai.tool.status']) ?? label(attributes['tool.status']);
    let status: 'error' | 'ok' | undefined;
    if (said === 'error') status = 'error' as const;
    else if (said === 'success') status = 'ok' as const;
    return { ...step, status: status ?? step.status };
  },
};

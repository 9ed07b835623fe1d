import type { Trace } from '@agentci/trace';
import { finalText } from '@agentci/trace';
import { clip } from './words.ts';

export type ParsedAnswer =
  | { kind: 'none' }
  | { kind: 'broken'; why: string }
  | { kind: 'json'; value: unknown };

/** Returns structured answers as they are, and parses text as a whole. */
export function parsedAnswer(trace: Trace): ParsedAnswer {
  if (trace.final?.data !== undefined && trace.final.text === undefined)
    return { kind: 'json', value: trace.final.data };
  const text = finalText(trace);
  if (text === undefined) return { kind: 'none' };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch (error) {
    const fence = /^\s*```/.test(text) ? ' (it is inside a code fence)' : '';
    return {
      kind: 'broken',
      why: `${clip(error instanceof Error ? error.message : String(error))}${fence}`,
    };
  }
}

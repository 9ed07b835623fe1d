import type { DraftStep, DraftTool } from '../build/draft.ts';
import { label, unpacked } from '../build/values.ts';
import type { ReadSpan } from './group-runs.ts';

/** Pydantic AI's span around the calls of one reply names them all. */
const AROUND_CALLS = /^running (?:\d{1,9} )?tools?$/;

/** Calls that an enclosing span names, but that have no span. */
export function absentCalls(run: readonly ReadSpan[], steps: readonly DraftStep[]): DraftTool[] {
  const found = new Map<string, number>();
  for (const step of steps)
    if (step.kind === 'tool') found.set(step.name, (found.get(step.name) ?? 0) + 1);
  return run.flatMap(({ span }) => {
    if (!AROUND_CALLS.test(span.name)) return [];
    const named = unpacked(span.attributes.tools);
    const names = Array.isArray(named) ? named.flatMap((name) => label(name) ?? []) : [];
    return names.flatMap((name): DraftTool[] => {
      const left = found.get(name) ?? 0;
      found.set(name, left - 1);
      return left > 0 ? [] : [{ kind: 'tool', name, parent: span.id, t0: span.t0, t1: span.t1 }];
    });
  });
}

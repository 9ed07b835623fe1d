import { visibleName } from '@agentci/lib/text';
import type { TraceWarning } from '@agentci/results';
import type { Trace } from '@agentci/trace';

const MAX_NAMED = 5;
/** Most names are plain; looking closer at each would cost more than the checks. */
const PLAIN = /^[!-~]*$/;

/** Tools whose names have characters that do not show: they are compared as they look, and a reader should know. */
export function changedNames(trace: Trace): TraceWarning[] {
  const changed = new Set<string>();
  for (const step of trace.steps) {
    if (step.kind !== 'tool') continue;
    for (const name of [step.name, step.rawName])
      if (name !== undefined && !PLAIN.test(name) && visibleName(name) !== name) changed.add(name);
  }
  return [...changed].slice(0, MAX_NAMED).map((name) => ({
    code: 'TOOL_NAME_CHANGED',
    message: `the tool ${shownCodes(name)} shows as "${visibleName(name)}" and is compared as that`,
  }));
}

/** A name whose odd characters do not show, with their numbers. */
const shownCodes = (name: string): string =>
  JSON.stringify(name).replace(
    /[^ -~]/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}}`,
  );

import type { Step, ToolStep, Trace } from '../trace/model.ts';

/** `search`, or `call 2 of search` where there are several. */
export function nameOfCall(names: readonly string[], i: number): string {
  const name = names[i]!;
  if (names.filter((other) => other === name).length === 1) return `\`${name}\``;
  const nth = names.slice(0, i + 1).filter((other) => other === name).length;
  return `call ${nth} of \`${name}\``;
}

/** The step as it is in the trace: a list of calls may show it under a cleaned name. */
export const stepOf = (trace: Trace, call: ToolStep): Step => trace.steps.find(({ id }) => id === call.id)!;

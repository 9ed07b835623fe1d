import { isObject } from '@agentci/lib/data';
import type { Step, ToolStep, Trace } from '@agentci/trace';
import { textsIn } from './answer-words.ts';
import type { Advice } from './operator.ts';

/** `search`, or `call 2 of search` if there are several. */
export function nameOfCall(names: readonly string[], i: number): string {
  const name = names[i]!;
  if (names.filter((other) => other === name).length === 1) return `\`${name}\``;
  const nth = names.slice(0, i + 1).filter((other) => other === name).length;
  return `call ${nth} of \`${name}\``;
}

/** The original step of a trace, because a list of calls may use a cleaned name. */
export const stepOf = (trace: Trace, call: ToolStep): Step =>
  trace.steps.find(({ id }) => id === call.id)!;

/** Advice to notice a missing call: by name, or by order if several calls have that name. */
export function adviceForCall(
  calls: readonly ToolStep[],
  i: number,
): readonly [Advice, ...Advice[]] {
  const names = calls.map(({ name }) => name);
  const name = names[i]!;
  const bySequence: Advice = { layer: 'path', key: 'expected_tool_sequence', value: names };
  if (names.filter((other) => other === name).length > 1) return [bySequence, allCalls(calls)];
  const isAbout = (written: unknown): boolean => textsIn(written).includes(name);
  return [
    { layer: 'path', key: 'expected_tools', value: [name], isAbout },
    bySequence,
    allCalls(calls),
  ];
}

/** Advice to require exactly these calls with their arguments, if no smaller check works. */
export const allCalls = (calls: readonly ToolStep[]): Advice => ({
  layer: 'path',
  key: 'expected_calls',
  value: {
    mode: 'exact',
    calls: calls.map(({ name, args }) => ({
      tool: name,
      args: isObject(args) && Object.keys(args).length > 0 ? args : undefined,
    })),
  },
});

export const adviceForHandoff = (to: string): readonly [Advice] => [
  {
    layer: 'path',
    key: 'expected_handoff',
    value: to,
    isAbout: (written) => textsIn(written).includes(to),
  },
];

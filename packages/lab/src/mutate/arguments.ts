import { isObject } from '@agentci/lib/data';
import type { ToolStep, Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { allCalls, nameOfCall, stepOf } from './calls.ts';
import { replaceStep } from './edit-trace.ts';
import type { Site } from './operator.ts';

/** How an argument changes: the words for it, and the value it gets; `undefined` takes it away. */
export interface ArgumentChange {
  readonly what: string;
  readonly value: unknown;
}

/** Places where an argument of a call can change, one for each argument that `change` has an idea for. */
export function argumentSites(
  trace: Trace,
  change: (value: unknown, key: string) => ArgumentChange | undefined,
): Site[] {
  const calls = toolCalls(trace);
  const names = calls.map(({ name }) => name);
  return calls.flatMap((call, i) => {
    const { args } = call;
    if (!isObject(args)) return [];
    return Object.entries(args).flatMap(([key, value]): Site[] => {
      const changed = change(value, key);
      if (changed === undefined) return [];
      return [
        {
          what: `calling ${nameOfCall(names, i)} with ${changed.what}`,
          make: () => {
            const { [key]: _, ...rest } = args;
            const next = changed.value === undefined ? rest : { ...args, [key]: changed.value };
            const step = stepOf(trace, call) as ToolStep;
            return replaceStep(trace, step, { ...step, args: next });
          },
          advice: [
            {
              layer: 'path',
              key: 'expected_tool_args',
              value: [{ tool: call.name, args: { [key]: value } }],
              isAbout: (written) => asksFor(written, call.name, key),
            },
            // Where another call of the tool has the same argument, some call would still have it.
            { layer: 'path', key: 'expected_tool_args', value: [{ tool: call.name, args }] },
            allCalls(calls),
          ],
        },
      ];
    });
  });
}

/** Some entry of `expected_tool_args` asks something of this argument. */
const asksFor = (written: unknown, tool: string, argument: string): boolean =>
  Array.isArray(written) &&
  written.some(
    (entry) =>
      isObject(entry) && entry.tool === tool && isObject(entry.args) && argument in entry.args,
  );

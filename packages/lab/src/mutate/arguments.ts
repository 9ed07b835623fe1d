import { isObject } from '@agentci/lib/data';
import type { ToolStep, Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { allCalls, nameOfCall, stepOf } from './calls.ts';
import { replaceStep } from './edit-trace.ts';
import type { Site } from './operator.ts';

/** A change of an argument: its description and new value. `undefined` removes the argument. */
export interface ArgumentChange {
  readonly what: string;
  readonly value: unknown;
}

/** One site for each argument that `change` applies to. */
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
            // If another call of the tool has the same argument, some call would still match.
            { layer: 'path', key: 'expected_tool_args', value: [{ tool: call.name, args }] },
            allCalls(calls),
          ],
        },
      ];
    });
  });
}

/** Whether an entry of `expected_tool_args` checks this argument. */
const asksFor = (written: unknown, tool: string, argument: string): boolean =>
  Array.isArray(written) &&
  written.some(
    (entry) =>
      isObject(entry) && entry.tool === tool && isObject(entry.args) && argument in entry.args,
  );

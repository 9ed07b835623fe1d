import type { Step, ToolStep, Trace } from '../trace/model.ts';
import { textsIn } from './answer-words.ts';
import type { Advice } from './operator.ts';
import { yamlValue } from './yaml-words.ts';

/** `search`, or `call 2 of search` where there are several. */
export function nameOfCall(names: readonly string[], i: number): string {
  const name = names[i]!;
  if (names.filter((other) => other === name).length === 1) return `\`${name}\``;
  const nth = names.slice(0, i + 1).filter((other) => other === name).length;
  return `call ${nth} of \`${name}\``;
}

/** The step as it is in the trace: a list of calls may show it under a cleaned name. */
export const stepOf = (trace: Trace, call: ToolStep): Step => trace.steps.find(({ id }) => id === call.id)!;

/** Notices that a call is not made: by its name, or by the order of all where there are several of that name. */
export function adviceForCall(names: readonly string[], i: number): Advice {
  const name = names[i]!;
  return names.filter((other) => other === name).length === 1
    ? {
        layer: 'path',
        key: 'expected_tools',
        yaml: `expected_tools: ${yamlValue([name])}`,
        isAbout: (written) => textsIn(written).includes(name),
      }
    : { layer: 'path', key: 'expected_tool_sequence', yaml: `expected_tool_sequence: ${yamlValue(names)}` };
}

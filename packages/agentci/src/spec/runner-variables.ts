import { parseTemplate } from '../kit/template.ts';
import type { YamlEntry, YamlNode, YamlPlace } from '../kit/yaml-node.ts';
import type { SpecProblems } from './problems.ts';
import type { Query } from './suite.ts';
import { slotPlace } from './variables.ts';

/** What a run says of itself in the texts of its runner. */
export const OWN_NAMES: ReadonlySet<string> = new Set([
  'query',
  'id',
  'run',
  'metadata',
  'message',
  'messages',
  'conversation',
]);

/** Variables that texts of the runner use, with the first place of each. */
export function runnerVariables(runner: YamlEntry | undefined): ReadonlyMap<string, YamlPlace> {
  const names = new Map<string, YamlPlace>();
  const find = (node: YamlNode): void => {
    if (node.kind === 'seq') for (const item of node.items) find(item);
    else if (node.kind === 'map') for (const { value } of node.entries.values()) find(value);
    else if (typeof node.value === 'string') {
      for (const part of parseTemplate(node.value)?.parts ?? [])
        if (typeof part !== 'string' && !OWN_NAMES.has(part.name) && !names.has(part.name))
          names.set(part.name, slotPlace(node, part.start));
    }
  };
  if (runner !== undefined) find(runner.value);
  return names;
}

/** A query with variables must have those that the runner needs; for any other, braces in the runner are plain text. */
export function checkRunnerVariables(
  names: ReadonlyMap<string, YamlPlace>,
  queries: readonly Query[],
  problems: SpecProblems,
): void {
  for (const [name, place] of names) {
    const without = queries.find(({ vars }) => vars !== undefined && !Object.hasOwn(vars, name));
    if (without === undefined) continue;
    problems.add(place, {
      code: 'SPEC_VARIABLE_MISSING',
      message: `the query "${without.id}" has no variable "${name}", which the runner needs`,
      hint: 'give it a value under "vars" at the root of the spec; write \\{{ where braces are meant as text',
    });
  }
}

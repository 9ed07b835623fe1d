import { accepts } from '../kit/accepts.ts';
import type { Problem } from '../kit/problem.ts';
import type { ValueSchema } from '../kit/value-schema.ts';
import { keyPlace, toPlain, type YamlEntry, type YamlNode } from '../kit/yaml-node.ts';
import type { SpecProblems } from './problems.ts';

/** Checks one value against its schema and reports what is wrong, where. True when nothing is. */
export function checkValue(
  entry: YamlEntry,
  schema: ValueSchema,
  problems: SpecProblems,
  /** The value, where someone has it already. */
  value: unknown = toPlain(entry.value),
): boolean {
  const { value: node, key } = entry;
  if (isBroken(node)) return false;
  if (isNull(node)) {
    problems.add(keyPlace(entry), emptyKey(key));
    return false;
  }
  return accepts(schema, value) || problems.expert.explain(entry, schema, problems);
}

export const isBroken = (node: YamlNode): boolean => node.kind === 'scalar' && node.broken === true;
export const isNull = (node: YamlNode): boolean =>
  node.kind === 'scalar' && node.value === null && node.broken !== true;

export const emptyKey = (key: string): Problem => ({
  code: 'SPEC_EMPTY',
  message: `"${key}" has no value`,
  hint: 'write its value after the colon, or indent it below; remove the key if it is not needed',
});

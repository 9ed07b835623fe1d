import type { YamlNode } from '../kit/yaml-node.ts';
import { resolvePlain } from '../kit/yaml-scalar.ts';

/** The plain scalar that begins here. Numbers have neither spaces nor signs of YAML in them. */
const NUMBER = /[-+.\w]+/y;

/** The facts of a user, numbers as they are written: `0042` and `+491712345678` are not 42 and 491712345678. */
export function writtenFacts(
  facts: Readonly<Record<string, string | number>>,
  node: YamlNode | undefined,
): Record<string, string | number> {
  if (node?.kind !== 'map') return { ...facts };
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [
      key,
      writtenNumber(node.entries.get(key)?.value, value) ?? value,
    ]),
  );
}

function writtenNumber(node: YamlNode | undefined, value: string | number): string | undefined {
  if (typeof value !== 'number' || node?.kind !== 'scalar' || node.style !== 'plain')
    return undefined;
  NUMBER.lastIndex = node.start;
  const text = NUMBER.exec(node.source.text)?.[0];
  return text !== undefined && resolvePlain(text) === value ? text : undefined;
}

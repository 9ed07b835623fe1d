import { accepts } from '../kit/accepts.ts';
import type { ValueSchema } from '../kit/value-schema.ts';
import { toPlain, type YamlEntry, type YamlNode } from '../kit/yaml-node.ts';
import { nodeOf } from './variables.ts';

/**
 * Reads texts of a CSV file as their key asks: where a number, a boolean, a list or a map is meant and the text is one in
 * JSON, it becomes one. Text that the key takes stays as it is, `007` included.
 */
export function fitTexts(schema: ValueSchema, node: YamlNode): YamlNode {
  if (node.kind === 'scalar')
    return node.isRowText === true ? fitText(schema, node, String(node.value)) : node;
  const { def } = schema;
  switch (def.kind) {
    case 'array':
      return node.kind === 'seq' ? withItems(node, () => def.item) : node;
    case 'tuple':
      return node.kind === 'seq' ? withItems(node, (i) => def.items[i]) : node;
    case 'object':
      return node.kind === 'map'
        ? withEntries(node, (key) => {
            if (Object.hasOwn(def.shape, key)) return def.shape[key];
            return typeof def.others === 'object' ? def.others : undefined;
          })
        : node;
    case 'record':
      return node.kind === 'map' ? withEntries(node, () => def.value) : node;
    case 'union': {
      const fitted = def.options.map((option) => fitTexts(option, node));
      return fitted.find((each, i) => accepts(def.options[i]!, toPlain(each))) ?? node;
    }
    case 'optional':
    case 'nullable':
    case 'default':
    case 'refined':
    case 'when':
      return fitTexts(def.inner, node);
    default:
      return node;
  }
}

function fitText(schema: ValueSchema, node: YamlNode, text: string): YamlNode {
  if (accepts(schema, text)) return node;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return node;
  }
  return accepts(schema, value) || typeof value === 'number' ? nodeOf(value, node) : node;
}

function withItems(
  node: YamlNode & { kind: 'seq' },
  schemaOf: (i: number) => ValueSchema | undefined,
): YamlNode {
  const items = node.items.map((item, i) => {
    const schema = schemaOf(i);
    return schema === undefined ? item : fitTexts(schema, item);
  });
  return { ...node, end: -1, items };
}

function withEntries(
  node: YamlNode & { kind: 'map' },
  schemaOf: (key: string) => ValueSchema | undefined,
): YamlNode {
  const entries = new Map<string, YamlEntry>();
  for (const [key, entry] of node.entries) {
    const schema = schemaOf(key);
    entries.set(
      key,
      schema === undefined ? entry : { ...entry, value: fitTexts(schema, entry.value) },
    );
  }
  return { ...node, end: -1, entries };
}

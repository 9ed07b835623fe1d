import { type Fields, isFields } from '@agentci/trace';
import { unpacked } from '../../build/values.ts';

const MAX_INDEX = 10_000;

/**
 * Restores attributes such as `llm.input_messages.0.message.role`. Reads only keys under the
 * prefix, and ignores an index beyond the bound or a name in place of an index.
 */
export function unflatten(attributes: Fields, prefix: string): unknown[] {
  const root: Branch = { children: new Map() };
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(`${prefix}.`)) continue;
    let branch = root;
    for (const part of key.slice(prefix.length + 1).split('.', 32)) {
      const next = branch.children.get(part) ?? { children: new Map() };
      branch.children.set(part, next);
      branch = next;
    }
    branch.value = value;
  }
  const list =
    root.children.size === 0 ? regrown(unpacked(nestedIn(attributes, prefix))) : grown(root);
  return Array.isArray(list) ? list : [];
}

/** Exports without flattening keep the whole list: under its name, or as nested objects. */
function nestedIn(attributes: Fields, prefix: string): unknown {
  if (attributes[prefix] !== undefined) return attributes[prefix];
  let value: unknown = attributes;
  for (const part of prefix.split('.')) value = isFields(value) ? unpacked(value[part]) : undefined;
  return value;
}

/** Dotted names in the items of such a list, `message.role`, become objects again. */
function regrown(value: unknown, depth = 0): unknown {
  if (depth > 32) return value;
  if (Array.isArray(value)) return value.map((item) => regrown(item, depth + 1));
  if (!isFields(value)) return value;
  const root: Branch = { children: new Map() };
  for (const [key, item] of Object.entries(value)) {
    let branch = root;
    for (const part of key.split('.', 32)) {
      const next = branch.children.get(part) ?? { children: new Map() };
      branch.children.set(part, next);
      branch = next;
    }
    branch.value = regrown(item, depth + 1);
  }
  return root.children.size === 0 ? value : grown(root);
}

interface Branch {
  value?: unknown;
  readonly children: Map<string, Branch>;
}

function grown(branch: Branch): unknown {
  if (branch.children.size === 0) return branch.value;
  const keys = [...branch.children.keys()];
  if (keys.every((key) => /^\d{1,5}$/.test(key) && Number(key) < MAX_INDEX))
    return keys
      .toSorted((a, b) => Number(a) - Number(b))
      .map((key) => grown(branch.children.get(key)!));
  const object: Record<string, unknown> = Object.create(null);
  for (const key of keys) object[key] = grown(branch.children.get(key)!);
  return { ...object };
}

/** The objects of a list that was put back together. */
export const unflattened = (attributes: Fields, prefix: string): Fields[] =>
  unflatten(attributes, prefix).filter(isFields);

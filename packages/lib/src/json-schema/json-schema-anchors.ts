import type * as Cfworker from '@cfworker/json-schema';

type Lookup = Record<string, Cfworker.Schema | boolean>;

/** Keywords with data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);

/**
 * Registers every `$anchor` under its own resource. The validator also registers anchors of an
 * embedded resource (a part with an `$id`) under the document, where they replace the document's
 * own.
 */
export function correctAnchors(lookup: Lookup, schema: unknown, base: string): Lookup {
  const own = new Map<string, Cfworker.Schema>();
  collect(schema, base, own);
  for (const address of Object.keys(lookup)) {
    const name = address.split('#')[1];
    const isAnchor = name !== undefined && name !== '' && !name.startsWith('/');
    if (isAnchor && !own.has(address) && anchorOf(lookup[address]) === name) delete lookup[address];
  }
  for (const [address, part] of own) lookup[address] = part;
  return lookup;
}

const anchorOf = (part: unknown): unknown => (part as { $anchor?: unknown } | undefined)?.$anchor;

function collect(value: unknown, base: string, into: Map<string, Cfworker.Schema>): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) collect(item, base, into);
    return;
  }
  const { $id, $anchor } = value as { $id?: unknown; $anchor?: unknown };
  const home = typeof $id === 'string' ? (withoutHash($id, base) ?? base) : base;
  if (typeof $anchor === 'string') {
    const address = `${home}#${$anchor}`;
    if (into.has(address)) throw new Error(`$anchor "${$anchor}" is there twice`);
    into.set(address, value as Cfworker.Schema);
  }
  for (const [key, part] of Object.entries(value)) if (!DATA.has(key)) collect(part, home, into);
}

function withoutHash(reference: string, base: string): string | undefined {
  try {
    const url = new URL(reference, base);
    url.hash = '';
    return url.href;
  } catch {
    return undefined;
  }
}

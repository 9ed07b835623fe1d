/** A number generator that gives the same series for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const HOSTILE: readonly unknown[] = [
  null,
  true,
  '',
  '\u0000',
  '__proto__',
  'constructor',
  -1,
  0,
  1e308,
  -1e308,
  2 ** 53 + 2,
  Number.MAX_SAFE_INTEGER,
  '9223372036854775807',
  [],
  {},
  [[[[[[]]]]]],
  { toString: 'x', valueOf: 1, length: -1 },
  { $ref: '#' },
  '\ud800',
  'data: {"type":"x"}',
  '{"a":',
  '[1,2',
  'x'.repeat(5000),
];

type Random = () => number;
const pick = <T>(list: readonly T[], random: Random): T =>
  list[Math.floor(random() * list.length)]!;

/** A mutated recording, and the changed paths with list indexes as `*`. */
export interface Mutated {
  readonly value: unknown;
  readonly places: readonly string[];
  /** Text replaced an object or a list. In place of a call, it is a different reply. */
  readonly hasWords: boolean;
}

/**
 * Mutates one or a few places of a parsed recording: changes a value or key, or removes, repeats or
 * moves an item.
 */
export function mutateValue(root: unknown, random: Random): Mutated {
  const places: {
    holder: Record<string, unknown> | unknown[];
    key: string | number;
    path: string;
  }[] = [];
  const walk = (value: unknown, above: string, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > 12 || places.length > 5000) return;
    for (const key of Object.keys(value)) {
      const path = `${above}${above === '' ? '' : '.'}${Array.isArray(value) ? '*' : key}`;
      places.push({ holder: value as Record<string, unknown>, key, path });
      walk((value as Record<string, unknown>)[key], path, depth + 1);
    }
  };
  const copy: unknown = structuredClone(root);
  walk(copy, '', 0);
  if (places.length === 0) return { value: pick(HOSTILE, random), places: [''], hasWords: true };
  const changed: string[] = [];
  let hasWords = false;
  // Only single changes are checked for unreported losses, so most recordings get one.
  for (let i = random() < 0.6 ? 1 : Math.ceil(random() * 3); i > 0; i--) {
    const { holder, key, path } = pick(places, random);
    changed.push(path);
    const fields = holder as Record<string, unknown>;
    const other = pick(places, random);
    const was = fields[key];
    switch (Math.floor(random() * 6)) {
      case 0:
        fields[key] = structuredClone(pick(HOSTILE, random));
        break;
      case 1:
        if (Array.isArray(holder)) holder.splice(Number(key), 1);
        else delete fields[key];
        break;
      case 2:
        // Copies another part of the same recording here: colliding ids, parents that are children.
        fields[key] = structuredClone((other.holder as Record<string, unknown>)[other.key]);
        break;
      case 3:
        if (Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
        else fields[`${key}x`] = fields[key];
        break;
      case 4:
        if (Array.isArray(holder)) holder.reverse();
        else fields[key] = [fields[key]];
        break;
      default:
        fields[key] =
          typeof fields[key] === 'string'
            ? JSON.stringify(fields[key])
            : String(JSON.stringify(fields[key]));
    }
    hasWords ||= typeof was === 'object' && was !== null && isWords(fields[key]);
  }
  return { value: copy, places: changed, hasWords };
}

/** A text with content that is not JSON. */
function isWords(value: unknown): boolean {
  if (typeof value !== 'string' || value.trim() === '') return false;
  try {
    return typeof JSON.parse(value) !== 'object';
  } catch {
    return true;
  }
}

/** Mutates bytes: truncation, flips, repetition and strange encodings. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const out = Uint8Array.from(bytes);
  switch (Math.floor(random() * 5)) {
    case 0:
      return out.subarray(0, Math.floor(random() * out.length));
    case 1:
      for (let i = 0; i < 8; i++)
        out[Math.floor(random() * out.length)] = Math.floor(random() * 256);
      return out;
    case 2: {
      const at = Math.floor(random() * out.length);
      const piece = out.subarray(at, at + Math.floor(random() * 200));
      return Buffer.concat([out.subarray(0, at), piece, piece, out.subarray(at)]);
    }
    case 3:
      return Buffer.from(Buffer.from(out).toString('latin1'), 'utf16le');
    default:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), out]);
  }
}

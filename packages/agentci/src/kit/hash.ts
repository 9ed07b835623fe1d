/** SHA-256 of a text in lower-case hexadecimal. `validate` needs no hash, and loading the module takes 4 ms. */
export const sha256Hex = (text: string): string =>
  process.getBuiltinModule('node:crypto').hash('sha256', text);

/** JSON with sorted keys: equal values give equal text, whatever order they were written in. Non-finite numbers become their names. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return `"${value}"`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const parts = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => Number(a > b) - Number(a < b))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`);
  return `{${parts.join(',')}}`;
}

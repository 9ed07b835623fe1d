/** Values as a person would write them on one line of YAML. */
export function yamlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(yamlValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${yamlValue(key)}: ${yamlValue(item)}`)
      .join(', ')}}`;
  // Some readers take 1e+21 for a text.
  if (typeof value === 'number') return JSON.stringify(value).replace(/^(-?\d+)e/, '$1.0e');
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  return isPlain(value) ? value : JSON.stringify(value);
}

/** Texts that YAML reads as themselves, inside brackets too. */
const isPlain = (text: string): boolean =>
  /^[A-Za-z_][\w./-]*(?: [\w./-]+)*$/.test(text) &&
  !/^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i.test(text);

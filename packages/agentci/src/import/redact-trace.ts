import { findPii, maskSecrets } from '@agentci/lib/secrets';
import type { Trace } from '@agentci/trace';

/** Fields whose values are secrets whatever they look like. */
const SECRET_KEY =
  /^(?:.{0,60}[-_.])?(?:authorization|cookie|password|passwd|passphrase|pwd|secret|api[-_]?key|access[-_]?key|secret[-_]?key|access[-_]?token|refresh[-_]?token|id[-_]?token|auth[-_]?token|session[-_]?token|bearer|private[-_]?key|credentials?)$|^token$|(?:Password|Secret|ApiKey|AccessKey|SecretKey|AccessToken|RefreshToken|AuthToken|PrivateKey)$/i;
export interface RedactOptions {
  /** Personal data too; true when left out. */
  readonly personal?: boolean;
  /** Also names of people, as far as two capitalized words tell them: it takes place names along. */
  readonly names: boolean;
}

export interface Redacted {
  readonly trace: Trace;
  /** How many values were masked, by what they were. */
  readonly masked: ReadonlyMap<string, number>;
}

/** Masks secrets and personal data in every text of a trace, keys of objects too. Numbers and the trace's own words stay. */
export function redactTrace(trace: Trace, options: RedactOptions): Redacted {
  const masked = new Map<string, number>();
  const mask = (type: string): string => {
    masked.set(type, (masked.get(type) ?? 0) + 1);
    return `[${type}]`;
  };
  const inText = (text: string): string => {
    const secretless = maskSecrets(text, () => mask('secret'));
    if (options.personal === false) return secretless;
    const spans = findPii(secretless, { names: options.names ? 'pattern' : 'off' }).toSorted(
      (a, b) => a.start - b.start,
    );
    let out = '';
    let at = 0;
    for (const { type, start, end } of spans) {
      out += secretless.slice(at, start) + mask(type);
      at = end;
    }
    return out + secretless.slice(at);
  };
  const visit = (value: unknown, key: string | undefined): unknown => {
    if (
      key !== undefined &&
      SECRET_KEY.test(key) &&
      value !== null &&
      typeof value !== 'object' &&
      value !== ''
    )
      return typeof value === 'number' || typeof value === 'string' ? mask('secret') : value;
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return value.map((item) => visit(item, key));
    if (typeof value !== 'object' || value === null) return value;
    const copy: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value))
      Object.defineProperty(copy, inText(name), {
        value: visit(inner, name),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    return copy;
  };
  // What the program itself wrote stays readable: only what agents, tools and people said is masked.
  const { schema, captured, source, ...said } = trace;
  const clean = visit(said, undefined) as Omit<Trace, 'schema' | 'captured' | 'source'>;
  return { trace: { ...clean, schema, captured, source }, masked };
}

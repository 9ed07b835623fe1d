import { findPii, maskSecrets } from '@agentci/lib/secrets';
import type { Trace } from '@agentci/trace';

/** Fields whose values are always secret. */
const SECRET_KEY =
  /^(?:.{0,60}[-_.])?(?:authorization|cookie|password|passwd|passphrase|pwd|secret|api[-_]?key|access[-_]?key|secret[-_]?key|access[-_]?token|refresh[-_]?token|id[-_]?token|auth[-_]?token|session[-_]?token|bearer|private[-_]?key|credentials?)$|^token$|(?:Password|Secret|ApiKey|AccessKey|SecretKey|AccessToken|RefreshToken|AuthToken|PrivateKey)$/i;
export interface RedactOptions {
  /** Also masks personal data. Default: true. */
  readonly personal?: boolean;
  /** Also masks names of people, guessed from two capitalized words. This masks place names too. */
  readonly names: boolean;
}

export interface Redacted {
  readonly trace: Trace;
  /** Number of masked values by kind. */
  readonly masked: ReadonlyMap<string, number>;
}

/**
 * Masks secrets and personal data in every text of a trace, object keys included. Numbers and the
 * trace's own vocabulary stay.
 */
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
  // Keeps text from the program itself. Masks only text from agents, tools and people.
  const { schema, captured, source, ...said } = trace;
  const clean = visit(said, undefined) as Omit<Trace, 'schema' | 'captured' | 'source'>;
  return { trace: { ...clean, schema, captured, source }, masked };
}

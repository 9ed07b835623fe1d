import { isObject } from '@agentci/lib/data';
import { isSecretName, maskAllSecrets, SECRETS } from '@agentci/lib/secrets';
import type { Trace } from '@agentci/trace';

const MASK = '[secret]';
/** Shorter values are common words. */
const MIN_LENGTH = 4;
/** This many characters reveal a secret in a truncated or changed value. */
const WINDOW = 8;
/** A word with a digit. */
const NUMBERED = /[\p{L}\p{N}_]*\d[\p{L}\p{N}_]*/gu;
const MAX_DEPTH = 64;
/** Numbers under weaker names are usually counts: `tokens: 500`. */
const STRONG_NAME = /pass|secret|credential|(?:^|_)pin$/i;

/** Collects the secrets in recordings, so that no report repeats them. */
export class KnownSecrets {
  readonly #found = new WeakMap<Trace, readonly string[]>();

  /** Masks secrets in a text about a recording. */
  mask(text: string, trace: Trace): string {
    const known = this.#of(trace).reduce((masked, secret) => withoutPieces(masked, secret), text);
    // A changed number of a secret is shown next to the original, which would reveal it as well.
    const hasNumber = known.match(NUMBERED)?.some((word) => this.#isPiece(word, trace)) ?? false;
    return SECRETS.text(
      maskAllSecrets(hasNumber ? known.replace(NUMBERED, MASK) : known, () => MASK),
    );
  }

  /** Whether a value derived from a recording would reveal a secret. */
  hasSecret(value: unknown, trace: Trace): boolean {
    return textsIn(value).some(
      (text) =>
        this.mask(text, trace) !== text || wordsIn(text).some((word) => this.#isPiece(word, trace)),
    );
  }

  /** Whether a text is a revealing part of a secret, as `3456` is of one with dashes. */
  #isPiece(text: string, trace: Trace): boolean {
    const isTelling = text.length >= MIN_LENGTH && (text.length >= WINDOW || /\d/.test(text));
    return isTelling && this.#of(trace).some((secret) => secret.includes(text));
  }

  #of(trace: Trace): readonly string[] {
    const known = this.#found.get(trace) ?? secretsIn(trace);
    this.#found.set(trace, known);
    return known;
  }
}

/** Values with secret names, and those identified by form or context, longest first. */
function secretsIn(trace: Trace): string[] {
  const found = new Set<string>();
  const note = (secret: string): string => {
    if (secret.trim().length >= MIN_LENGTH) found.add(secret);
    // Too short to count as the value of a preceding name.
    return '[]';
  };
  const visit = (value: unknown, name: string | undefined, depth: number): void => {
    if (typeof value === 'string') {
      if (name === undefined) maskAllSecrets(value, note);
      else note(value);
    } else if (typeof value === 'number') {
      if (name !== undefined && STRONG_NAME.test(name)) note(String(value));
    } else if (depth > MAX_DEPTH) return;
    else if (Array.isArray(value)) for (const item of value) visit(item, name, depth + 1);
    else if (isObject(value))
      for (const [key, item] of Object.entries(value))
        visit(item, isSecretName(key) ? key : name, depth + 1);
  };
  // Our own fields, such as token counts, are not secret. Messages and arguments may be.
  for (const step of trace.steps) {
    if (step.kind === 'tool')
      for (const said of [step.args, step.result]) visit(said, undefined, 0);
    if (step.kind === 'llm')
      for (const said of [step.input, step.output]) visit(said, undefined, 0);
  }
  for (const said of [trace.final, trace.task?.input, trace.conversation])
    visit(said, undefined, 0);
  return [...found].sort((a, b) => b.length - a.length);
}

/** Masks every piece of a secret that is long enough to reveal it. */
function withoutPieces(text: string, secret: string): string {
  const window = Math.min(WINDOW, secret.length);
  let out = '';
  for (let at = 0; at < text.length; ) {
    let end = at + window;
    if (end > text.length || !secret.includes(text.slice(at, end))) {
      out += text[at++];
      continue;
    }
    while (end < text.length && secret.includes(text.slice(at, end + 1))) end++;
    out += MASK;
    at = end;
  }
  return out;
}

/** All texts and numbers in a value, including field names. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, depth + 1));
  return Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item, depth + 1)]);
}

/** The words of a text or pattern. `\b` is not part of a word. */
const wordsIn = (text: string): readonly string[] =>
  text.replace(/\\[a-z]/gi, ' ').match(/[\p{L}\p{N}_]+/gu) ?? [];

import { isObject } from '@agentci/lib/data';
import { isSecretName, maskAllSecrets, SECRETS } from '@agentci/lib/secrets';
import type { Trace } from '@agentci/trace';

const MASK = '[secret]';
/** Shorter values are words of every sentence. */
const MIN_LENGTH = 4;
/** So many characters of a secret give it away, as a value that was clipped or changed has them. */
const WINDOW = 8;
/** A word with a digit in it. */
const NUMBERED = /[\p{L}\p{N}_]*\d[\p{L}\p{N}_]*/gu;
const MAX_DEPTH = 64;
/** Numbers under other names of secrets are mostly counts: `tokens: 500`. */
const STRONG_NAME = /pass|secret|credential|(?:^|_)pin$/i;

/** The secrets that recordings have in them, so that no report repeats them. */
export class KnownSecrets {
  readonly #found = new WeakMap<Trace, readonly string[]>();

  /** A text about a recording, without what is secret in it. */
  mask(text: string, trace: Trace): string {
    const known = this.#of(trace).reduce((masked, secret) => withoutPieces(masked, secret), text);
    // A number of a secret is told beside what it was changed into, which gives it away as well.
    const hasNumber = known.match(NUMBERED)?.some((word) => this.#isPiece(word, trace)) ?? false;
    return SECRETS.text(
      maskAllSecrets(hasNumber ? known.replace(NUMBERED, MASK) : known, () => MASK),
    );
  }

  /** A value, made of a recording, that would give a secret away. */
  hasSecret(value: unknown, trace: Trace): boolean {
    return textsIn(value).some(
      (text) =>
        this.mask(text, trace) !== text || wordsIn(text).some((word) => this.#isPiece(word, trace)),
    );
  }

  /** A telling part of a secret, as `3456` is of one with dashes in it. */
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

/** What has a name that says it is a secret, and what its form or the words before it give away; the longest first. */
function secretsIn(trace: Trace): string[] {
  const found = new Set<string>();
  const note = (secret: string): string => {
    if (secret.trim().length >= MIN_LENGTH) found.add(secret);
    // Too short to be taken for the value of a name before it.
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
  // Fields of ours, such as the number of tokens, are left alone; what was said and passed may be secret.
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

/** The text with every piece of a secret masked that is long enough to give it away. */
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

/** Every text and number in a value, names of its fields too. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, depth + 1));
  return Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item, depth + 1)]);
}

/** The words of a text or a pattern, whose `\b` is not part of one. */
const wordsIn = (text: string): readonly string[] =>
  text.replace(/\\[a-z]/gi, ' ').match(/[\p{L}\p{N}_]+/gu) ?? [];

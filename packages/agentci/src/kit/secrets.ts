/** A value that must not be shown, and the name that is shown in its place. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Names that say their value is secret: `OPENAI_API_KEY`, `DB_PASSWORD`, `githubToken`, `AWS_SECRET_ACCESS_KEY`. */
const SECRET_NAME =
  /token|secret|passw(?:or)?d|passphrase|credential|api_?key|private_?key|(?:^|_)(?:[a-z]{2,12})?keys?(?:_?id)?$|(?:^|_)(?:pat|pwd)$/i;
/** Names of things about a secret: where it is, how long, how many. */
const ABOUT =
  /_(?:file|path|dir|url|uri|endpoint|host|name|type|limit|count|budget|size|length|ttl|expiry|expires|parallelism|algorithm|issuer|audience)$|^(?:old)?pwd$|^(?:max|min|num|total)_|^tokenizers?_/i;
const STRONG_NAME = /passw|secret|passphrase|credential/i;

const MIN_LENGTH = 6;
const MIN_TOKEN_LENGTH = 8;
/** Values that are words of every log: hiding them would hide the log and no secret. */
const COMMON: ReadonlySet<string> = new Set(
  'true false null none undefined default localhost production development staging testing example password secret postgres enabled disabled required optional always changeme placeholder'.split(
    ' ',
  ),
);

/** The secrets among environment variables, by their names. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): Secret[] {
  const found: Secret[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !SECRET_NAME.test(snake(name)) || ABOUT.test(snake(name))) continue;
    const isAmount = /^[\d.,]+$/.test(value);
    const isLong = value.trim().length >= (STRONG_NAME.test(name) ? MIN_LENGTH : MIN_TOKEN_LENGTH);
    if (isLong && (!isAmount || STRONG_NAME.test(name))) found.push({ name, value });
  }
  return found;
}

const snake = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2');

const isHidden = ({ value }: Secret): boolean =>
  value.trim().length >= MIN_LENGTH && !COMMON.has(value.trim().toLowerCase());

/** Replaces secrets in texts by `[NAME]`, in whichever of the usual encodings they come. */
export class SecretMask {
  readonly #names = new Map<string, string>();
  #pattern: RegExp | undefined;
  /** Without forms that could be a number of a JSON document, which must stay one. */
  #inJson: RegExp | undefined;
  #longest = 0;

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  add(secrets: readonly Secret[]): void {
    const before = this.#names.size;
    for (const secret of secrets) {
      if (!isHidden(secret)) continue;
      for (const form of formsOf(secret.value)) if (!this.#names.has(form)) this.#names.set(form, secret.name);
    }
    if (this.#names.size === before) return;
    // The longest first: a key that another one begins with must not leave its end behind.
    const forms = [...this.#names.keys()].sort((a, b) => b.length - a.length);
    this.#longest = forms[0]!.length;
    this.#pattern = patternOf(forms);
    this.#inJson = patternOf(forms.filter((form) => !LIKE_NUMBER.test(form)));
  }

  text(text: string, onFound?: (name: string) => void): string {
    return this.#replace(text, this.#pattern, onFound);
  }

  /** As `text` for what may be a JSON document, whose values were masked one by one already. */
  document(text: string): string {
    return this.#replace(text, this.#inJson);
  }

  #replace(text: string, pattern: RegExp | undefined, onFound?: (name: string) => void): string {
    if (pattern === undefined || text.length < MIN_LENGTH) return text;
    pattern.lastIndex = 0;
    if (!pattern.test(text)) return text;
    pattern.lastIndex = 0;
    return text.replace(pattern, (form) => {
      const name = this.#names.get(form)!;
      onFound?.(name);
      const shown = `[${name.replace(/[^\w.-]/g, '_')}]`;
      // A secret that is an object, in a document of its own kind, leaves a text in its place.
      return /^[{[]/.test(form) && form.includes('"') && !form.includes('\\"') ? `"${shown}"` : shown;
    });
  }

  /** As `text` for every text in a value, keys included. A value without secrets is given back as it is. */
  value<T>(value: T, onFound?: (name: string) => void): T {
    return this.#pattern === undefined ? value : (this.#visit(value, onFound) as T);
  }

  /**
   * Masks a text that comes in pieces: a secret may be cut in two. What could be the beginning of one is held back until
   * the next piece, or until `flush`.
   */
  pieces(write: (text: string) => void): { readonly write: (text: string) => void; readonly flush: () => void } {
    let held = '';
    return {
      write: (text) => {
        if (this.isEmpty) return write(text);
        const whole = this.document(held + text);
        const keep = this.#beginning(whole);
        held = whole.slice(whole.length - keep);
        if (whole.length > keep) write(whole.slice(0, whole.length - keep));
      },
      flush: () => {
        if (held !== '') write(held);
        held = '';
      },
    };
  }

  /** How many characters at the end could be the beginning of a secret. */
  #beginning(text: string): number {
    for (let length = Math.min(this.#longest - 1, text.length); length > 0; length--) {
      const end = text.slice(text.length - length);
      for (const form of this.#names.keys()) if (form.length > length && form.startsWith(end)) return length;
    }
    return 0;
  }

  #visit(value: unknown, onFound: ((name: string) => void) | undefined): unknown {
    if (typeof value === 'string') return this.text(value, onFound);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      let copy: unknown[] | undefined;
      for (let i = 0; i < value.length; i++) {
        const masked = this.#visit(value[i], onFound);
        if (masked === value[i]) continue;
        copy ??= [...value];
        copy[i] = masked;
      }
      return copy ?? value;
    }
    let isChanged = false;
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
      const entry: [string, unknown] = [this.text(key, onFound), this.#visit(inner, onFound)];
      isChanged ||= entry[0] !== key || entry[1] !== inner;
      return entry;
    });
    return isChanged ? Object.fromEntries(entries) : value;
  }
}

/** Digits alone, which may be part of any number. */
const LIKE_NUMBER = /^[\d.eE+-]+$/;

const patternOf = (forms: readonly string[]): RegExp | undefined =>
  forms.length === 0 ? undefined : new RegExp(forms.map(escapeRegex).join('|'), 'g');

const escapeRegex = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

const MIN_ENCODED = 10;
const MIN_LINE = 16;

/** A secret as it is, as JSON and URLs write it, in Base64 wherever it begins, and line by line. */
function formsOf(given: string): Set<string> {
  const value = given.trim();
  const forms = new Set([value]);
  const inJson = JSON.stringify(value).slice(1, -1);
  forms.add(inJson);
  forms.add(JSON.stringify(inJson).slice(1, -1));
  forms.add(urlEncoded(value));
  for (let offset = 0; offset < 3; offset++) {
    const base64 = base64At(value, offset);
    if (base64.length < MIN_ENCODED) continue;
    forms.add(base64);
    forms.add(base64.replaceAll('+', '-').replaceAll('/', '_'));
  }
  for (const part of partsOf(value)) forms.add(part);
  return forms;
}

/** Of a key in several lines, or an object of credentials, each part is enough; the lines around a key are in every key. */
function partsOf(value: string): string[] {
  const lines = [value, ...textsIn(value)].flatMap((text) => text.split(/\r?\n|\\n/)).map((line) => line.trim());
  return lines.filter((line) => line !== value && line.length >= MIN_LINE && !/^-----|^[{[]|^https?:/.test(line));
}

function textsIn(json: string): string[] {
  if (!json.startsWith('{')) return [];
  try {
    const values = Object.values(JSON.parse(json) as Record<string, unknown>);
    return values.filter((value) => typeof value === 'string');
  } catch {
    return [];
  }
}

function urlEncoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The characters of Base64 that stand for the value alone when so many bytes come before it. */
function base64At(value: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
  const whole = bytes.toString('base64').replace(/=+$/, '');
  const start = Math.ceil((offset * 8) / 6);
  const end = Math.floor((bytes.length * 8) / 6);
  return whole.slice(start, end);
}

/**
 * The secrets of this process. One for all, since a secret must not be shown wherever it turns up; whoever resolves one
 * adds it, whoever writes asks `maskText`.
 */
export const SECRETS = new SecretMask();

/** A text as it may be written or shown. */
export const maskText = (text: string): string => SECRETS.document(text);

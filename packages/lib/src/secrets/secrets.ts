import { fullyDecoded } from './decoded-text.ts';
import { type FoundSecret, MIN_LENGTH, SecretSearch } from './secret-search.ts';

/** A secret value, and its display name. */
export interface Secret {
  readonly name: string;
  readonly value: string;
  /** It was seen in use as a key, so documents mask it even if it looks like a word. */
  readonly isUsed?: boolean;
}

/**
 * Names of secret values: `OPENAI_API_KEY`, `DB_PASSWORD`, `githubToken`, `AWS_SECRET_ACCESS_KEY`.
 */
const SECRET_NAME =
  /token|secret|passw(?:or)?d|passphrase|credential|api_?key|private|bearer|(?:^|_)(?:[a-z]{2,12})?keys?(?:_?id)?$|(?:^|_)(?:pat|pwd|pass|auth|authorization|jwt)(?:_|$)|(?:db|sql|user|smtp|ftp|redis)pass$/i;
/** Names of facts about a secret, such as its location, length or count. */
const ABOUT =
  /_(?:file|path|dir|sock|pid|url|uri|endpoint|host|domain|realm|provider|method|mode|region|email|user|username|name|type|limit|count|budget|size|length|ttl|expiry|expires|parallelism|algorithm|issuer|audience)$|^(?:old)?pwd$|^(?:max|min|num|total)_|^tokenizers?_/i;
const STRONG_NAME = /pass(?:$|_|w)|secret|passphrase|credential/i;

const MIN_TOKEN_LENGTH = 8;
/** Common words. Masking them would hide every log and no secret. */
const COMMON: ReadonlySet<string> = new Set(
  'true false null none undefined default localhost production development staging testing example password secret postgres enabled disabled required optional always changeme placeholder'.split(
    ' ',
  ),
);

/** Secret environment variables, by name. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): Secret[] {
  const found: Secret[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isSecretName(name) && isLongEnough(name, value))
      found.push({ name, value });
  }
  return found;
}

function isLongEnough(name: string, value: string): boolean {
  const isAmount = /^[\d.,]+$/.test(value);
  const isLong = value.trim().length >= (STRONG_NAME.test(name) ? MIN_LENGTH : MIN_TOKEN_LENGTH);
  return isLong && (!isAmount || STRONG_NAME.test(name));
}

/** Whether a value under a secret name is a secret, by length and commonness. */
export const isSecretValue = (name: string, value: string): boolean =>
  isLongEnough(name, value) && isHidden({ name, value });

/** Whether a variable, flag, header or parameter of this name holds a secret. */
export const isSecretName = (name: string): boolean => {
  const plain = snake(name.replaceAll('-', '_'));
  return SECRET_NAME.test(plain) && !ABOUT.test(plain);
};

/** Headers and parameters with keys whose names do not show it. */
const KEY_NAMES: ReadonlySet<string> = new Set([
  'cookie',
  'key',
  'sig',
  'signature',
  'code',
  'x-amz-signature',
]);

/** Whether a header or a parameter of this name carries a key. */
export const isKeyName = (name: string): boolean =>
  KEY_NAMES.has(name.toLowerCase()) || isSecretName(name);

const snake = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2');

const isHidden = ({ value }: Secret): boolean =>
  value.trim().length >= MIN_LENGTH && !COMMON.has(value.trim().toLowerCase());

type OnFound = (name: string) => void;

/** Replaces secrets by `[NAME]`, in any common encoding. */
export class SecretMask {
  /** Display names by encoded form. */
  readonly #forms = new Map<string, string>();
  readonly #used = new Set<string>();
  /** Values that were added before: every request brings its keys again, and their forms take time. */
  readonly #added = new Set<string>();
  #own = '';
  #all = new SecretSearch(this.#forms);
  /** Without forms that could be our own words, or numbers of a JSON document. */
  #inDocuments = this.#all;

  get isEmpty(): boolean {
    return this.#forms.size === 0;
  }

  /** Forgets every secret, for tests that run several commands in one process. */
  clear(): void {
    this.#forms.clear();
    this.#used.clear();
    this.#added.clear();
    this.#own = '';
    this.#prepare();
  }

  add(secrets: readonly Secret[]): void {
    const before = this.#forms.size;
    const usedBefore = this.#used.size;
    for (const { name, value, isUsed } of secrets.filter(isHidden)) {
      const added = `${isUsed === true} ${value}`;
      if (this.#added.has(added)) continue;
      this.#added.add(added);
      for (const form of formsOf(value)) if (!this.#forms.has(form)) this.#forms.set(form, name);
      if (isUsed === true && !isPlainWord(value.trim())) this.#used.add(value.trim());
    }
    if (this.#forms.size > before || this.#used.size > usedBefore) this.#prepare();
  }

  /** Exempts the user's names and ids, which documents must keep even if they contain a secret. */
  spare(words: readonly string[]): void {
    const fresh = words.filter((word) => !this.#own.includes(word));
    if (fresh.length === 0) return;
    this.#own += `\n${fresh.join('\n')}`;
    this.#prepare();
  }

  #prepare(): void {
    this.#all = new SecretSearch(this.#forms);
    const isForeign = (form: string): boolean =>
      !LIKE_NUMBER.test(form) &&
      (this.#used.has(form) || !LIKE_WORD.test(form)) &&
      !this.#own.includes(form);
    this.#inDocuments = new SecretSearch(
      new Map([...this.#forms].filter(([form]) => isForeign(form))),
    );
  }

  /** Finds secrets in a captured text. */
  find(text: string): readonly FoundSecret[] {
    return this.#all.find(text);
  }

  /** Finds secrets in a document, sparing its own words. */
  findInDocument(text: string): readonly FoundSecret[] {
    return this.#inDocuments.findInDocument(text);
  }

  text(text: string, onFound?: OnFound): string {
    return replaceIn(text, this.#all.find(text), onFound);
  }

  /** Like `text`, for a document whose captured texts are already masked. */
  document(text: string): string {
    return replaceIn(text, this.#inDocuments.findInDocument(text));
  }

  /** Fast test for JSON documents that may contain a secret. */
  mayBeIn(json: string): boolean {
    return this.#all.mayBeIn(json);
  }

  /** Like `text`, for every text and key of a value. Returns a value without secrets unchanged. */
  value<T>(value: T, onFound?: OnFound): T {
    return this.isEmpty ? value : (this.#visit(value, onFound) as T);
  }

  /**
   * Masks a text in pieces. Holds back a possible start of a secret until the next piece or
   * `flush`.
   */
  pieces(write: (text: string) => void): {
    readonly write: (text: string) => void;
    readonly flush: () => void;
  } {
    let held = '';
    return {
      write: (text) => {
        if (this.isEmpty) return write(text);
        const whole = this.document(held + text);
        const keep = this.#inDocuments.beginning(whole);
        held = whole.slice(whole.length - keep);
        if (whole.length > keep) write(whole.slice(0, whole.length - keep));
      },
      flush: () => {
        if (held !== '') write(held);
        held = '';
      },
    };
  }

  #visit(value: unknown, onFound: OnFound | undefined): unknown {
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
      // Keys are usually words of a schema, so only unmistakable secrets are masked there.
      const entry: [string, unknown] = [
        replaceIn(key, this.#inDocuments.find(key), onFound),
        this.#visit(inner, onFound),
      ];
      isChanged ||= entry[0] !== key || entry[1] !== inner;
      return entry;
    });
    return isChanged ? Object.fromEntries(entries) : value;
  }
}

function replaceIn(text: string, found: readonly FoundSecret[], onFound?: OnFound): string {
  if (found.length === 0) return text;
  let masked = '';
  let at = 0;
  for (const { start, end, name } of found) {
    onFound?.(name);
    masked += text.slice(at, start) + markFor(name, text.slice(start, end));
    at = end;
  }
  return masked + text.slice(at);
}

/** The mask of a secret. */
export const maskMark = (name: string): string => `[${name.replace(/[^\w.-]/g, '_')}]`;

/** A secret that is a JSON object leaves a JSON string in its place. */
const markFor = (name: string, form: string): string =>
  /^[{[]/.test(form) && form.includes('"') && !form.includes('\\"')
    ? `"${maskMark(name)}"`
    : maskMark(name);

/** Only digits, which may be part of any number. */
const LIKE_NUMBER = /^[\d.eE+-]+$/;

/**
 * Up to three words, which may be our key, id or status. A phrase of more words is none of these.
 */
const LIKE_WORD = /^\p{L}+(?:[_.-]\p{L}+){0,2}$/u;

const LONG_WORD = 16;
/** Placeholders for unneeded keys: `ollama`, `lm-studio`, `Placeholder`. */
const isPlainWord = (value: string): boolean =>
  value.length < LONG_WORD && !/[a-z].*[A-Z]|[A-Z]{2}.*[a-z]/.test(value);

const MIN_ENCODED = 10;
const MIN_LINE = 16;

/** A secret verbatim, in Base64 at any offset, in hexadecimal, and line by line. */
function formsOf(given: string): Set<string> {
  const value = given.trim();
  // Also decoded, because texts are searched in decoded form too.
  const forms = new Set([value, fullyDecoded(value)]);
  for (let offset = 0; offset < 3; offset++) {
    const base64 = base64At(value, offset);
    if (base64.length < MIN_ENCODED) continue;
    forms.add(base64);
    forms.add(base64.replaceAll('+', '-').replaceAll('/', '_'));
  }
  const hex = Buffer.from(value).toString('hex');
  forms.add(hex).add(hex.toUpperCase());
  for (const part of partsOf(value)) forms.add(part);
  return forms;
}

/**
 * Each part of a multi-line key or credentials object is a secret. The frame lines are the same in
 * every key.
 */
function partsOf(value: string): string[] {
  const lines = [value, ...textsIn(value)]
    .flatMap((text) => text.split(/\r?\n|\\n/))
    .map((line) => line.trim());
  const parts = lines.filter(
    (line) => line !== value && line.length >= MIN_LINE && !/^-----|^[{[]|^https?:/.test(line),
  );
  const password = /^[a-z][\w+.-]*:\/\/[^\s/@:]*:([^\s/@]+)@/i.exec(value)?.[1];
  // Drivers repeat the password of an address alone.
  return password !== undefined && isHidden({ name: '', value: password })
    ? [...parts, password]
    : parts;
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

/** The Base64 characters that encode only the value, if `offset` bytes precede it. */
function base64At(value: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
  const whole = bytes.toString('base64').replace(/=+$/, '');
  const start = Math.ceil((offset * 8) / 6);
  const end = Math.floor((bytes.length * 8) / 6);
  return whole.slice(start, end);
}

/**
 * The secrets of this process. Global, because a secret must not appear anywhere. Code that
 * resolves a secret adds it, and code that writes calls `maskText`.
 */
export const SECRETS = new SecretMask();

/** A text that is safe to write or show. */
export const maskText = (text: string): string => SECRETS.document(text);

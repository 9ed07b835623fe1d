import { compileRegex, posixSet } from '@agentci/lib/regex';

/** A pattern of Rust's `regex`, translated to match the same texts here. */
export type RustFit =
  | { readonly verdict: 'exact' | 'close'; readonly pattern: string; readonly why?: string }
  | { readonly verdict: 'none'; readonly why: string };

/**
 * In Rust `\w`, `\d` and `\s` cover all scripts. Written out, because not every engine has the
 * property Alphabetic.
 */
const SETS: Readonly<Record<string, string>> = {
  d: String.raw`\p{Nd}`,
  w: String.raw`\p{L}\p{Nl}\p{M}\p{Nd}\p{Pc}\u24b6-\u24e9\u{1f130}-\u{1f149}\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u200c\u200d`,
  s: String.raw`\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`,
};

const REFUSED = 'does not compile in Rust, so that the test always fails there';

/**
 * Translates a pattern, or returns the reason why it cannot have the same meaning. `flags` are
 * letters of `ims`.
 */
export function rustFit(pattern: string, flags: string): RustFit {
  const leading = /^\(\?([a-zA-Z]+)\)/.exec(pattern);
  const letters = [...new Set(`${flags}${leading?.[1] ?? ''}`)].join('');
  if (/[^ims]/.test(letters))
    return {
      verdict: 'none',
      why: `the flag "${letters.replace(/[ims]/g, '')[0]}" is not known here`,
    };
  const writer = new Translator(pattern.slice(leading?.[0].length ?? 0), letters);
  const body = writer.run();
  if (writer.none !== undefined) return { verdict: 'none', why: writer.none };
  const whole = `${letters === '' ? '' : `(?${letters})`}${body}`;
  const compiled = compileRegex(whole);
  if (!compiled.ok)
    return { verdict: 'none', why: `the pattern is not read here: ${compiled.message}` };
  return writer.close === undefined
    ? { verdict: 'exact', pattern: whole }
    : { verdict: 'close', pattern: whole, why: writer.close };
}

class Translator {
  close: string | undefined;
  none: string | undefined;
  #at = 0;
  readonly #text: string;
  readonly #flags: string;

  constructor(text: string, flags: string) {
    this.#text = text;
    this.#flags = flags;
  }

  run(): string {
    let written = '';
    while (this.#at < this.#text.length && this.none === undefined) written += this.#next();
    return written;
  }

  #take(length: number): string {
    const taken = this.#text.slice(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  #refuse(why: string): '' {
    this.none ??= why;
    return '';
  }

  #next(): string {
    const rest = this.#text.slice(this.#at, this.#at + 120);
    switch (rest[0]) {
      case '\\':
        return this.#escape(rest);
      case '[':
        return this.#set();
      case '.':
        // In Rust only a line feed ends a line.
        this.#at++;
        return this.#flags.includes('s') ? '.' : '[^\\n]';
      case '^':
      case '$':
        if (this.#flags.includes('m')) this.close ??= 'more than a line feed ends a line here';
        return this.#take(1);
      case '{': {
        const count = /^\{\d+(?:,\d*)?\}/.exec(rest);
        return count === null
          ? this.#refuse(`a "{" that is not a count ${REFUSED}`)
          : this.#take(count[0].length);
      }
      case '(': {
        const opening = /^\((?:\?(?:i|-i)?:|\?P?<[A-Za-z_]\w*>|(?!\?))/.exec(rest);
        if (opening !== null) return this.#take(opening[0].length);
        return this.#refuse(
          /^\(\?<?[=!]/.test(rest)
            ? `look-around ${REFUSED}`
            : 'flags inside of the pattern are not carried',
        );
      }
      default:
        return this.#take(1);
    }
  }

  #escape(rest: string): string {
    const c = rest[1] ?? '';
    const set = SETS[c.toLowerCase()];
    if (set !== undefined && /[dwsDWS]/.test(c)) {
      this.#at += 2;
      return `[${c === c.toUpperCase() ? '^' : ''}${set}]`;
    }
    if (c === 'b' || c === 'B') {
      if (rest[2] === '{') return this.#refuse(`"\\${c}{…}" is not known here`);
      this.close ??= `"\\${c}" counts letters of all scripts there, and those of ASCII here`;
      return this.#take(2);
    }
    return c === 'A' || c === 'z' ? this.#take(2) : this.#character(rest);
  }

  /** An escape for one character, or a property. */
  #character(rest: string): string {
    const code =
      /^\\[xuU]\{([0-9a-fA-F]{1,8})\}/.exec(rest) ??
      /^\\x([0-9a-fA-F]{2})/.exec(rest) ??
      /^\\u([0-9a-fA-F]{4})/.exec(rest) ??
      /^\\U([0-9a-fA-F]{8})/.exec(rest);
    if (code !== null) {
      const value = Number.parseInt(code[1]!, 16);
      if (value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return this.#refuse(`"${code[0]}" ${REFUSED}`);
      this.#at += code[0].length;
      return `\\u{${value.toString(16)}}`;
    }
    const property = /^\\[pP](?:\{[^}]*\}|[A-Z])/.exec(rest);
    if (property !== null) {
      this.close ??= `"${property[0]}" may name another set here`;
      return this.#take(property[0].length);
    }
    if (/^\\[tnrfva]/.test(rest) || /^\\[!-/:;=?@[-`{-~ ]/.test(rest)) return this.#take(2);
    return this.#refuse(`"${rest.slice(0, 2)}" ${REFUSED}`);
  }

  #set(): string {
    let written = this.#take(this.#text[this.#at + 1] === '^' ? 2 : 1);
    // A bracket or a hyphen right after the opening is literal.
    if (this.#text[this.#at] === ']') {
      this.#at++;
      written += '\\]';
    }
    let isFirst = true;
    let isRange = false;
    while (this.#at < this.#text.length && this.none === undefined) {
      const rest = this.#text.slice(this.#at, this.#at + 40);
      if (rest[0] === ']') return `${written}${this.#take(1)}`;
      if (/^(?:&&|--|~~)/.test(rest))
        return this.#refuse(`"${rest.slice(0, 2)}" in a set is not known here`);
      const many = this.#manyInSet(rest);
      if (
        many !== undefined &&
        (isRange || /^-[^\]]/.test(this.#text.slice(this.#at, this.#at + 2)))
      )
        return this.#refuse(`a range from or to a class ${REFUSED}`);
      const isHyphen = rest[0] === '-' && !isFirst && rest[1] !== ']';
      written += many ?? (rest[0] === '\\' ? this.#character(rest) : this.#take(1));
      isRange = isHyphen;
      isFirst = false;
    }
    return this.#refuse(`a set that is not closed ${REFUSED}`);
  }

  /** A class inside a set: all its characters. */
  #manyInSet(rest: string): string | undefined {
    const posix = /^\[:([a-z]+):\]/.exec(rest);
    if (posix !== null) {
      this.#at += posix[0].length;
      return posixSet(posix[1]!) ?? this.#refuse(`"${posix[0]}" ${REFUSED}`);
    }
    if (rest[0] === '[') return this.#refuse('a set inside of a set is not known here');
    const letter = /^\\([dwsDWS])/.exec(rest)?.[1];
    if (letter === undefined) return undefined;
    this.#at += 2;
    if (letter === 'D') return '\\P{Nd}';
    return SETS[letter] ?? this.#refuse(`"\\${letter}" in a set is not carried`);
  }
}

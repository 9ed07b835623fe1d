/** A regular expression as a tree. Flags `s` and `m` are already resolved into the nodes, so later stages need only `i`. */
export type RegexNode =
  | { readonly t: 'char'; readonly code: number }
  | { readonly t: 'any'; readonly dotAll: boolean }
  | { readonly t: 'set'; readonly negated: boolean; readonly items: readonly SetItem[] }
  | { readonly t: 'assert'; readonly kind: AssertKind }
  | {
      readonly t: 'group';
      readonly body: RegexNode;
      readonly name?: string;
      readonly capture: boolean;
      readonly fold?: boolean;
    }
  | {
      readonly t: 'look';
      readonly ahead: boolean;
      readonly negated: boolean;
      readonly body: RegexNode;
    }
  | { readonly t: 'backref'; readonly ref: number | string }
  | {
      readonly t: 'repeat';
      readonly body: RegexNode;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
    }
  | { readonly t: 'seq'; readonly items: readonly RegexNode[] }
  | { readonly t: 'alt'; readonly options: readonly RegexNode[] };

export type AssertKind = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'word' | 'notWord';
export type ClassLetter = 'd' | 'D' | 'w' | 'W' | 's' | 'S';
export type SetItem =
  | { readonly lo: number; readonly hi: number }
  | { readonly letter: ClassLetter }
  | { readonly property: string; readonly negated: boolean };

export interface ParsedRegex {
  readonly root: RegexNode;
  readonly ignoreCase: boolean;
  /** Uses `(?i:…)` inside, which V8 of Node 20 cannot run. */
  readonly hasScopedFold: boolean;
  /** Uses look-around or a backreference, which no linear-time engine can run. */
  readonly needsBacktracking: boolean;
  readonly hasBackreference: boolean;
  readonly hasLineAnchor: boolean;
}

/** A pattern that cannot be read; `offset` is where, in UTF-16 units. */
export class RegexSyntaxError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'RegexSyntaxError';
    this.offset = offset;
  }
}

const MAX_PATTERN = 10_000;
const MAX_NESTING = 200;
const MAX_REPEAT = 100_000;

/**
 * Reads JavaScript regular expression syntax (with the `u` flag's meaning of characters) and the Python-only spellings
 * `(?P<n>…)`, `(?P=n)`, `\A`, `\Z` and flags at the front.
 */
export function parseRegex(pattern: string, flags = ''): ParsedRegex {
  return new Parser(pattern, flags).parse();
}

interface Flags {
  fold: boolean;
  dotAll: boolean;
  multiline: boolean;
}

class Parser {
  private readonly pattern: string;
  private readonly initialFlags: string;
  private at = 0;
  private depth = 0;
  private groups = 0;
  private readonly names = new Set<string>();
  private readonly references: { ref: number | string; offset: number }[] = [];
  private flags: Flags = { fold: false, dotAll: false, multiline: false };
  private hasScopedFold = false;
  private hasLook = false;
  private hasLineAnchor = false;

  constructor(pattern: string, flags: string) {
    this.pattern = pattern;
    this.initialFlags = flags;
  }

  parse(): ParsedRegex {
    if (this.pattern.length > MAX_PATTERN)
      this.fail(`the pattern is longer than ${MAX_PATTERN} characters`, MAX_PATTERN);
    this.flags = this.withFlags(this.flags, this.initialFlags, 0, true);
    this.leadingFlags();
    const ignoreCase = this.flags.fold;
    const root = this.alternatives();
    if (this.at < this.pattern.length) this.fail('unmatched ")"', this.at);
    for (const { ref, offset } of this.references) {
      const known = typeof ref === 'number' ? ref <= this.groups : this.names.has(ref);
      if (!known) this.fail(`there is no group ${JSON.stringify(ref)} to refer back to`, offset);
    }
    return {
      root,
      ignoreCase,
      hasScopedFold: this.hasScopedFold,
      needsBacktracking: this.hasLook || this.references.length > 0,
      hasBackreference: this.references.length > 0,
      hasLineAnchor: this.hasLineAnchor,
    };
  }

  private fail(message: string, offset: number): never {
    throw new RegexSyntaxError(message, offset);
  }

  private withFlags(base: Flags, letters: string, offset: number, on: boolean): Flags {
    const next = { ...base };
    for (const letter of letters) {
      if (letter === 'i') next.fold = on;
      else if (letter === 's') next.dotAll = on;
      else if (letter === 'm') next.multiline = on;
      // Characters are always whole code points here, and a test has no position or indices to remember.
      else if (!'uadgvy'.includes(letter))
        this.fail(`the flag "${letter}" is not supported`, offset);
    }
    return next;
  }

  private leadingFlags(): void {
    for (;;) {
      const match = /^\(\?([a-zA-Z]+)\)/.exec(this.pattern.slice(this.at, this.at + 20));
      if (match === null) return;
      this.flags = this.withFlags(this.flags, match[1]!, this.at + 2, true);
      this.at += match[0].length;
    }
  }

  private alternatives(): RegexNode {
    if (++this.depth > MAX_NESTING)
      this.fail(`groups are nested more than ${MAX_NESTING} deep`, this.at);
    const options: RegexNode[] = [this.sequence()];
    while (this.pattern[this.at] === '|') {
      this.at++;
      options.push(this.sequence());
    }
    this.depth--;
    return options.length === 1 ? options[0]! : { t: 'alt', options };
  }

  private sequence(): RegexNode {
    const items: RegexNode[] = [];
    while (this.at < this.pattern.length) {
      const c = this.pattern[this.at]!;
      if (c === '|' || c === ')') break;
      const start = this.at;
      const atom = this.atom();
      if (atom === undefined) continue;
      items.push(this.quantified(atom, start));
    }
    return { t: 'seq', items };
  }

  private quantified(atom: RegexNode, start: number): RegexNode {
    const range = this.quantifier();
    if (range === undefined) return atom;
    if (atom.t === 'assert' || atom.t === 'look') this.fail('nothing to repeat', start);
    if (range.min > range.max)
      this.fail(`the repeat {${range.min},${range.max}} is out of order`, this.at);
    const lazy = this.pattern[this.at] === '?';
    if (lazy) this.at++;
    else if (this.pattern[this.at] === '+')
      this.fail('possessive quantifiers are not supported', this.at);
    const again = this.at;
    if (this.quantifier() !== undefined) this.fail('nothing to repeat', again);
    return { t: 'repeat', body: atom, min: range.min, max: range.max, lazy };
  }

  private quantifier(): { min: number; max: number } | undefined {
    const c = this.pattern[this.at];
    if (c === '*') return this.advance(1, { min: 0, max: Number.POSITIVE_INFINITY });
    if (c === '+') return this.advance(1, { min: 1, max: Number.POSITIVE_INFINITY });
    if (c === '?') return this.advance(1, { min: 0, max: 1 });
    if (c !== '{') return undefined;
    const match = /^\{(\d{1,9})(?:(,)(\d{0,9}))?\}/.exec(this.pattern.slice(this.at, this.at + 24));
    if (match === null) return undefined;
    const min = Number(match[1]);
    let max: number;
    if (match[2] === undefined) max = min;
    else if (match[3] === '') max = Number.POSITIVE_INFINITY;
    else max = Number(match[3]);
    if (min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && max > MAX_REPEAT)) {
      this.fail(`a repeat count above ${MAX_REPEAT} is not supported`, this.at);
    }
    return this.advance(match[0].length, { min, max });
  }

  private advance<T>(length: number, value: T): T {
    this.at += length;
    return value;
  }

  private atom(): RegexNode | undefined {
    const c = this.pattern[this.at]!;
    switch (c) {
      case '^':
        return this.advance(1, this.lineOr('lineStart', 'textStart'));
      case '$':
        return this.advance(1, this.lineOr('lineEnd', 'textEnd'));
      case '.':
        return this.advance(1, { t: 'any', dotAll: this.flags.dotAll });
      case '[':
        return this.set();
      case '(':
        return this.group();
      case '\\':
        return this.escape();
      case '*':
      case '+':
      case '?':
        return this.fail('nothing to repeat', this.at);
      default:
        return this.literal();
    }
  }

  private lineOr(line: AssertKind, text: AssertKind): RegexNode {
    if (!this.flags.multiline) return { t: 'assert', kind: text };
    this.hasLineAnchor = true;
    return { t: 'assert', kind: line };
  }

  private literal(): RegexNode {
    return { t: 'char', code: this.codePoint() };
  }

  private codePoint(): number {
    const code = this.pattern.codePointAt(this.at)!;
    this.at += code > 0xffff ? 2 : 1;
    return code;
  }

  private group(): RegexNode | undefined {
    const open = this.at;
    const rest = this.pattern.slice(open, open + 120);
    const opening =
      /^\((?:\?(?:(:|=|!|<=|<!)|P?<([A-Za-z_$][\w$]*)>|P=([A-Za-z_$][\w$]*)\)|([a-zA-Z]*)(?:-([a-zA-Z]+))?:|(#)))?/.exec(
        rest,
      )!;
    if (opening[0] === '(' && rest[1] === '?') {
      const flagsOnly = /^\(\?[a-zA-Z-]+\)/.test(rest);
      this.fail(
        flagsOnly
          ? 'flags for the whole pattern must come first'
          : 'this kind of group is not supported',
        open,
      );
    }
    this.at = open + opening[0].length;
    const [, kind, name, reference, on, off, comment] = opening;
    if (comment !== undefined) {
      const end = this.pattern.indexOf(')', this.at);
      if (end === -1) this.fail('a group is not closed', open);
      this.at = end + 1;
      return undefined;
    }
    if (reference !== undefined) return this.backreference(reference, open);
    const outer = this.flags;
    let fold: boolean | undefined;
    if (on !== undefined) {
      this.flags = this.withFlags(
        this.withFlags(outer, on, open + 2, true),
        off ?? '',
        open + 2,
        false,
      );
      if (this.flags.fold !== outer.fold) {
        fold = this.flags.fold;
        this.hasScopedFold = true;
      }
    }
    const isCapture = name !== undefined || opening[0] === '(';
    if (isCapture) this.groups++;
    if (name !== undefined) {
      if (this.names.has(name)) this.fail(`two groups are named "${name}"`, open);
      this.names.add(name);
    }
    const body = this.alternatives();
    if (this.pattern[this.at] !== ')') this.fail('a group is not closed', open);
    this.at++;
    this.flags = outer;
    if (kind !== undefined && kind !== ':') {
      this.hasLook = true;
      return { t: 'look', ahead: kind === '=' || kind === '!', negated: kind.endsWith('!'), body };
    }
    return {
      t: 'group',
      body,
      capture: isCapture,
      name,
      fold,
    };
  }

  private backreference(ref: number | string, offset: number): RegexNode {
    this.references.push({ ref, offset });
    return { t: 'backref', ref };
  }

  private escape(): RegexNode {
    const start = this.at;
    const c = this.pattern[start + 1];
    if (c === undefined) this.fail('the pattern ends with a backslash', start);
    switch (c) {
      case 'b':
        return this.advance(2, { t: 'assert', kind: 'word' });
      case 'B':
        return this.advance(2, { t: 'assert', kind: 'notWord' });
      case 'A':
        return this.advance(2, { t: 'assert', kind: 'textStart' });
      case 'Z':
      case 'z':
        return this.advance(2, { t: 'assert', kind: 'textEnd' });
    }
    const named = /^\\k<([A-Za-z_$][\w$]*)>/.exec(this.pattern.slice(start, start + 120));
    if (named !== null) return this.advance(named[0].length, this.backreference(named[1]!, start));
    const numbered = /^\\([1-9]\d{0,3})/.exec(this.pattern.slice(start, start + 6));
    if (numbered !== null)
      return this.advance(numbered[0].length, this.backreference(Number(numbered[1]), start));
    const item = this.escapedItem();
    if ('lo' in item) return { t: 'char', code: item.lo };
    return { t: 'set', negated: false, items: [item] };
  }

  /** An escape that stands for characters, in or outside a set. */
  private escapedItem(): SetItem {
    const start = this.at;
    const c = this.pattern[start + 1];
    if (c === undefined) this.fail('the pattern ends with a backslash', start);
    if ('dDwWsS'.includes(c)) return this.advance(2, { letter: c as ClassLetter });
    if (c === 'p' || c === 'P') return this.property(start, c === 'P');
    const single = SINGLE_ESCAPES.get(c);
    if (single !== undefined) return this.advance(2, { lo: single, hi: single });
    const rest = this.pattern.slice(start, start + 12);
    const hex =
      /^\\x([0-9a-fA-F]{2})/.exec(rest) ??
      /^\\u([0-9a-fA-F]{4})/.exec(rest) ??
      /^\\u\{([0-9a-fA-F]{1,6})\}/.exec(rest) ??
      /^\\U([0-9a-fA-F]{8})/.exec(rest);
    if (hex !== null) return this.hexItem(hex[1]!, hex[0].length, start);
    const control = /^\\c([a-zA-Z])/.exec(rest);
    if (control !== null) {
      const code = control[1]!.charCodeAt(0) % 32;
      return this.advance(3, { lo: code, hi: code });
    }
    if (/[A-Za-z0-9]/.test(c)) this.fail(`"\\${c}" is not an escape`, start);
    this.at++;
    const code = this.codePoint();
    return { lo: code, hi: code };
  }

  private hexItem(digits: string, length: number, start: number): SetItem {
    let code = Number.parseInt(digits, 16);
    if (code > 0x10ffff) this.fail('the code point is above 10FFFF', start);
    this.at += length;
    if (code >= 0xd800 && code <= 0xdbff) {
      const low = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.pattern.slice(this.at, this.at + 6));
      if (low !== null) {
        code = (code - 0xd800) * 0x400 + (Number.parseInt(low[1]!, 16) - 0xdc00) + 0x10000;
        this.at += 6;
      }
    }
    return { lo: code, hi: code };
  }

  private property(start: number, negated: boolean): SetItem {
    const match = /^\\[pP](?:\{(\^?)([\w=]{1,60})\}|([A-Z]))/.exec(
      this.pattern.slice(start, start + 70),
    );
    if (match === null) this.fail('a Unicode property is written \\p{Name}', start);
    return this.advance(match[0].length, {
      property: match[2] ?? match[3]!,
      negated: negated !== (match[1] === '^'),
    });
  }

  private set(): RegexNode {
    const open = this.at++;
    const negated = this.pattern[this.at] === '^';
    if (negated) this.at++;
    const items: SetItem[] = [];
    for (;;) {
      if (this.at >= this.pattern.length) this.fail('a set is not closed', open);
      if (this.pattern[this.at] === ']') break;
      const first = this.setItem();
      const isRange =
        this.pattern[this.at] === '-' &&
        this.pattern[this.at + 1] !== ']' &&
        this.at + 1 < this.pattern.length;
      if (!isRange || !('lo' in first)) {
        items.push(first);
        continue;
      }
      const dash = this.at++;
      const last = this.setItem();
      if (!('lo' in last)) {
        items.push(first, { lo: 0x2d, hi: 0x2d }, last);
        continue;
      }
      if (last.lo < first.lo) this.fail('a range in a set is out of order', dash);
      items.push({ lo: first.lo, hi: last.lo });
    }
    this.at++;
    return { t: 'set', negated, items };
  }

  private setItem(): SetItem {
    if (this.pattern[this.at] === '\\') {
      if (this.pattern[this.at + 1] === 'b') return this.advance(2, { lo: 8, hi: 8 });
      return this.escapedItem();
    }
    const code = this.codePoint();
    return { lo: code, hi: code };
  }
}

const SINGLE_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
  ['a', 7],
  ['0', 0],
]);

import { compileRegex, matchesEverything, type Regex } from '@agentci/lib/regex';
import type { FoundCredential } from '@agentci/lib/secrets';

/** Texts that change in every run and can be left out of comparisons, by their name in a spec. */
export const SCRUB_PATTERNS: Readonly<Record<string, RegExp>> = {
  'iso-date':
    /(?<!\d)\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?(?!\d)/g,
  uuid: /(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/gi,
  'tmp-path':
    /(?:\/private)?\/(?:tmp|var\/tmp|var\/folders)\/[^\s"'`<>|]{1,500}|[A-Za-z]:\\[^\s"'`<>|]{1,200}\\Temp\\[^\s"'`<>|]{1,300}/g,
  port: /(?<=(?:localhost|127\.0\.0\.1|\[::1\]):)\d{2,5}(?!\d)/g,
  'epoch-ms': /(?<![\d.])1[4-9]\d{11}(?![\d.])/g,
};

export const SCRUB_NAMES: readonly string[] = Object.keys(SCRUB_PATTERNS);

const SECRET = /^secret:(\S+)$/;

/** The parsed `scrub` setting of a spec. */
export interface Scrub {
  /** The names in the spec. */
  readonly names: readonly string[];
  readonly isEmpty: boolean;
  /** Replaces variable parts of a text, or of a number as text, by their names. */
  readonly text: (text: string) => string;
  /**
   * Whether a credential in a reply may be replaced: `secret:NAME`, `secret:*`, or a matching
   * expression.
   */
  readonly covers: (credential: FoundCredential, text: string) => boolean;
}

/** The reason why an item of `scrub` is invalid. Undefined if it is valid. */
export function whyNotScrub(item: string): string | undefined {
  if (item in SCRUB_PATTERNS || SECRET.test(item)) return undefined;
  const source = sourceOf(item);
  if (source === undefined)
    return `"${item}" is not known; it takes ${SCRUB_NAMES.join(', ')}, a regular expression between slashes (/req-\\d+/), or secret:NAME`;
  if (matchesEverything(source)) return `the pattern ${item} matches every text`;
  const compiled = compileRegex(source);
  return compiled.ok ? undefined : compiled.message;
}

const sourceOf = (item: string): string | undefined => /^\/(.+)\/$/s.exec(item)?.[1];

/** Prepares the items of `scrub` that `whyNotScrub` has accepted. */
export function prepareScrub(names: readonly string[]): Scrub {
  const changes: ((text: string) => string)[] = [];
  const own: Regex[] = [];
  const secrets = new Set<string>();
  for (const name of names) {
    const known = SCRUB_PATTERNS[name];
    const secret = SECRET.exec(name)?.[1];
    if (known !== undefined) changes.push((text) => text.replace(known, `<${name}>`));
    else if (secret !== undefined) secrets.add(secret);
    else {
      const compiled = compileRegex(sourceOf(name) ?? '');
      if (!compiled.ok) continue;
      own.push(compiled.regex);
      changes.push((text) => replaceAll(text, compiled.regex, `<${name}>`));
    }
  }
  return {
    names,
    isEmpty: changes.length === 0,
    text: (text) => changes.reduce((changed, change) => change(changed), text),
    covers: ({ name, start, end }, text) =>
      secrets.has('*') ||
      secrets.has(name) ||
      own.some((regex) => regex.test(text.slice(start, end))),
  };
}

function replaceAll(text: string, regex: Regex, mark: string): string {
  let out = '';
  let rest = text;
  for (let match = regex.firstMatch(rest); match !== undefined; match = regex.firstMatch(rest)) {
    // After an empty match the next search begins one character later.
    const end = match.index + Math.max(match.text.length, 1);
    out += rest.slice(0, match.index) + (match.text === '' ? rest.slice(match.index, end) : mark);
    rest = rest.slice(end);
    if (rest === '') break;
  }
  return out + rest;
}

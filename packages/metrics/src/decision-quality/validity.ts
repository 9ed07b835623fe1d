import { malformedCommand } from './malformed-command.ts';
import type { PartScore } from './part-score.ts';
import type { DecisionQualityProfile } from './profile.ts';

/** Whether an action is feasible: 1 or 0. */
export function scoreValidity(action: string, profile: DecisionQualityProfile): PartScore {
  if (profile.validity === 'none') return { score: 1, rule: 'not_checked' };
  const text = action.toLowerCase();
  const impossible = impossibleValue(text);
  if (impossible !== undefined) return { score: 0, rule: 'impossible_value', evidence: impossible };
  const contradiction = contradictionIn(text, profile.contradictions);
  if (contradiction !== undefined)
    return { score: 0, rule: 'contradictory_directives', evidence: contradiction };
  const malformed = malformedCommand(action, profile.commands);
  if (malformed !== undefined) return { score: 0, rule: 'malformed_command', evidence: malformed };
  return { score: 1, rule: 'feasible' };
}

const PERCENTAGE = /(\d[\d,]{0,30}(?:\.\d{1,30})?) ?(?:%|percent\b)/g;
/** A share cannot exceed 100 %, but a change can: "increase replicas by 200%". */
const CHANGE = /\bby(?: (?:about|around|roughly|up to|at least|at most|another|over))? ?$/;

function impossibleValue(text: string): string | undefined {
  for (const match of text.matchAll(PERCENTAGE)) {
    const value = Number(match[1]!.replaceAll(',', ''));
    // Long enough for any of the words above.
    if (value > 100 && !CHANGE.test(text.slice(Math.max(0, match.index - 20), match.index)))
      return match[0];
  }
  return NEGATIVE.exec(plainSigns(text))?.[0];
}

/** Normalizes other signs and words for "below zero". "5 minus 3" is a subtraction. */
const plainSigns = (text: string): string =>
  text
    .replace(/[\u2212\u2012\u2013\ufe63\uff0d](?=\d)/g, '-')
    .replace(/(?<!\d\s?)\b(?:minus|negative) (?=\d)/g, '-');

/** A negative count or size: "-3 replicas", "memory limit to -512mi". */
const NEGATIVE =
  /(?<![\w.)-])-\d[\d,]{0,30}(?:\.\d{1,30})? ?(?:%|percent\b|replicas?\b|pods?\b|nodes?\b|instances?\b|workers?\b|containers?\b|servers?\b|copies\b|connections?\b|threads?\b|processes\b|retries\b|attempts?\b|times\b|requests?\b|users?\b|cpus?\b|cores?\b|bytes?\b|[kmgt]i?b\b|[kmgt]i\b|ms\b|s\b|seconds?\b|minutes?\b|hours?\b|days?\b)|(?:--(?:replicas|max|min|limit|size|timeout|retries|count|parallelism)[= ]|\b(?:replicas|count|size|limit|timeout|pool|capacity|memory|cpu)(?: (?:to|of|is|at)|[:=]) ?)-\d[\d,]{0,30}(?:\.\d{1,30})?/;

const MAX_OBJECT_WORDS = 4;

/**
 * "restart and rollback", "restart the pod and rollback the pod": two directives for one target
 * that exclude each other.
 */
function contradictionIn(
  text: string,
  pairs: DecisionQualityProfile['contradictions'],
): string | undefined {
  const words = joined(text);
  for (const [at, word] of words.entries()) {
    if (word !== 'and') continue;
    const after = words[at + 1] === 'then' ? at + 2 : at + 1;
    for (const [a, b] of pairs) {
      for (const [first, second] of [
        [joined(a), joined(b)],
        [joined(b), joined(a)],
      ] as const) {
        if (
          startsWith(words, after, second) &&
          governs(words, { first, and: at, rest: after + second.length })
        )
          return `${first.join(' ')} and ${second.join(' ')}`;
      }
    }
  }
  return undefined;
}

/** Whether the first directive is right before "and", or has the same object as the second. */
function governs(
  words: readonly string[],
  { first, and, rest }: { first: readonly string[]; and: number; rest: number },
): boolean {
  for (let length = 0; length <= MAX_OBJECT_WORDS; length++) {
    const start = and - length - first.length;
    if (start < 0) return false;
    if (!startsWith(words, start, first)) continue;
    if (length === 0 || words[rest] === 'it' || words[rest] === 'them') return true;
    if (startsWith(words, rest, words.slice(and - length, and))) return true;
  }
  return false;
}

const startsWith = (words: readonly string[], at: number, wanted: readonly string[]): boolean =>
  wanted.every((word, i) => words[at + i] === word);

/** The words of a text. "roll back" is the same directive as "rollback". */
const joined = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/\broll[ -]back\b/g, 'rollback')
    .replace(/\bscale-(up|down)\b/g, 'scale $1')
    .split(/[\s,;:.!?()]+/)
    .filter((word) => word !== '');

import { foldText, visibleText } from '@agentci/lib/text';
import type { CheckResult, LayerResult } from '@agentci/results';

/** A range of an answer that matters to a check: an expected or a forbidden term. */
export interface AnswerMark {
  readonly start: number;
  readonly end: number;
  readonly kind: 'expected' | 'forbidden';
}

const MAX_MARKS = 500;
/** Shorter evidence occurs in any text by chance. */
const MIN_EVIDENCE = 4;

/** Positions of the deciding words in an answer. Forbidden ones win if two overlap. */
export function answerMarks(
  answer: string,
  { details, checks }: Pick<LayerResult, 'details' | 'checks'>,
): AnswerMark[] {
  const marks: AnswerMark[] = [];
  const add = (kind: AnswerMark['kind'], start: number, end: number): void => {
    if (
      end > start &&
      marks.length < MAX_MARKS &&
      !marks.some((other) => start < other.end && other.start < end)
    )
      marks.push({ start, end, kind });
  };
  const mark = (kind: AnswerMark['kind'], terms: readonly string[]): void => {
    for (const term of terms) {
      let hasMark = false;
      for (const { index, 0: found } of answer.matchAll(patternOf(term))) {
        hasMark = true;
        add(kind, index, index + found.length);
      }
      // Folded as in checks: case, combining accents, invisible characters.
      if (!hasMark) for (const { start, end } of foldedPlaces(answer, term)) add(kind, start, end);
    }
  };
  const countOf = (key: string): unknown =>
    checks.find(({ id }) => id === `correctness.${key}`)?.value;
  const sought = (key: string): readonly string[] => {
    const terms = termsOf(details[key]);
    const found = foundTerms(answer, terms, countOf(key));
    return found === undefined ? terms : terms.filter((term) => found.has(term));
  };
  mark('forbidden', sought('not_in_answer'));
  for (const check of checks) {
    const at = firstDifference(answer, check);
    if (at !== undefined) add('forbidden', at, wordEnd(answer, at));
    if (check.status === 'fail' || check.status === 'warn') mark('forbidden', evidenceTexts(check));
  }
  mark('expected', [...sought('expected_in_answer'), ...sought('any_expected_in_answer')]);
  const matched = countOf('regex_match');
  if (typeof matched === 'string') mark('expected', [matched]);
  return marks.sort((a, b) => a.start - b.start);
}

/**
 * The terms that a check found, inferred from its count, because the result does not say whether
 * case mattered. Undefined if the count fits neither way, as in conversations, where earlier
 * answers count too.
 */
export function foundTerms(
  answer: string,
  terms: readonly string[],
  count: unknown,
): ReadonlySet<string> | undefined {
  for (const prepare of [foldText, visibleText]) {
    const text = prepare(answer);
    const hits = terms.filter((term) => text.includes(prepare(term)));
    if (hits.length === count) return new Set(hits);
  }
  return undefined;
}

/** Details may come from files, so anything but a list of texts is ignored. */
export function termsOf(detail: unknown): string[] {
  const checked = (detail as { checked?: unknown } | null | undefined)?.checked;
  return Array.isArray(checked)
    ? checked.filter((term) => typeof term === 'string' && term.trim() !== '')
    : [];
}

const MAX_FOLDED = 100_000;

/** Positions of a term after folding, mapped back to the original text. */
function foldedPlaces(answer: string, term: string): { start: number; end: number }[] {
  const wanted = foldText(term).trim();
  if (wanted === '' || answer.length > MAX_FOLDED) return [];
  let folded = '';
  // Original position of each folded character.
  const from: number[] = [];
  const to: number[] = [];
  for (const { index, 0: piece } of answer.matchAll(/\s+|\P{M}?\p{M}*/gu)) {
    const text = /^\s/.test(piece) ? ' ' : foldText(piece);
    for (let i = 0; i < text.length; i++) {
      from.push(index);
      to.push(index + piece.length);
    }
    folded += text;
  }
  const places: { start: number; end: number }[] = [];
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + wanted.length))
    places.push({ start: from[at]!, end: to[at + wanted.length - 1]! });
  return places;
}

const patternOf = (term: string): RegExp =>
  new RegExp(
    term
      .trim()
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/\s+/g, '\\s+'),
    'giu',
  );

/** Searches for the middle of evidence that is cut at both ends. */
const evidenceTexts = ({ id, evidence }: CheckResult): string[] =>
  id === 'correctness.exact_match'
    ? []
    : evidence.flatMap(({ text }) => {
        const piece = typeof text === 'string' ? text.replace(/^…|…$/g, '').trim() : '';
        return piece.length >= MIN_EVIDENCE ? [piece] : [];
      });

/**
 * Position at which an answer deviates from the expected text. Unknown if only the start of that
 * text is left.
 */
function firstDifference(answer: string, { id, status, limit }: CheckResult): number | undefined {
  if (id !== 'correctness.exact_match' || status === 'pass' || typeof limit !== 'string')
    return undefined;
  const start = answer.length - answer.trimStart().length;
  let at = 0;
  while (at < limit.length && answer[start + at] === limit[at]) at++;
  return at === limit.length - 1 && limit.endsWith('…') ? undefined : start + at;
}

const wordEnd = (text: string, at: number): number =>
  at + (/^\s*\S*/.exec(text.slice(at))?.[0].length ?? 0);

import { v } from '@agentci/lib/values';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { type Said, saidIn } from './said.ts';

const params = () =>
  metricParams({
    similarity: v
      .number()
      .min(0)
      .max(1)
      .default(0.8)
      .describe('share of words two questions must have in common to count as the same'),
    ignore: v
      .array(v.string().regex(/\S/))
      .default(['anything else', 'something else'])
      .describe('questions with one of these texts are courtesies and do not count'),
  });

/** Beyond this many questions, comparing all pairs would cost more than it tells. */
const MAX_QUESTIONS = 1000;
const MAX_LISTED = 20;

export const metric = defineMetric({
  name: 'repeated_questions',
  group: 'conversation',
  layer: 'path',
  better: 'lower',
  scale: 'raw',
  unit: 'questions',
  needs: ['the answer of every turn', 'two turns or more'],
  summary: 'questions the agent asks again in a later turn',
  params,
  evaluate: (input) => {
    const said = saidIn(input);
    if (typeof said === 'string') return notMeasured(said);
    if (said.length < 2)
      return notMeasured('the conversation has one turn: nothing could be asked again');
    const { similarity, ignore } = input.params;
    const courtesies = ignore.map((text) => text.toLowerCase());
    const asked = said
      .flatMap(questionsIn)
      .filter(({ text }) => !courtesies.some((each) => plain(text).includes(each)));
    if (asked.length > MAX_QUESTIONS)
      return notMeasured(
        `${asked.length} questions, more than the ${MAX_QUESTIONS} that are compared`,
      );
    const repeated = asked.flatMap((question, i) => {
      const first = asked
        .slice(0, i)
        .find((other) => other.turn < question.turn && overlap(other, question) >= similarity);
      return first === undefined
        ? []
        : [{ turn: question.turn, first_turn: first.turn, question: question.text }];
    });
    return measured(repeated.length, {
      questions: asked.length,
      repeated: repeated.slice(0, MAX_LISTED),
    });
  },
});

interface Question {
  readonly turn: number;
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

/**
 * Addresses and code, whose punctuation does not end a sentence. A question mark right after an
 * address ends the sentence around it.
 */
const NOT_SPEECH =
  /```[\s\S]*?(?:```|$)|`[^`\n]*`|(?:\b[a-z][a-z\d+.-]{1,20}:\/\/|\bwww\.|\bmailto:)[^\s<>"'）)\]]+|(?<![\p{L}\d.@-])(?:[\p{L}\d-]{1,63}\.){1,8}[a-z]{2,24}\/[^\s<>"'）)\]]*/giu;
/**
 * Sentences with their final punctuation. The dot in `3.5` and the question mark in
 * `/orders?page=2` do not end one.
 */
const SENTENCE =
  /(?:(?!(?<=\p{Script=Greek});(?:\s|$))[^.!?？؟፧。！\n]|\.(?=[\p{L}\d])|\?(?=[\w%-]{1,40}=))+(?:(?<=\p{Script=Greek});|[?？؟፧])?/gu;
const ASKS = /(?:[?？؟፧]|\p{Script=Greek};)$/u;

/** The same text with addresses and code blanked out, at the same offsets. */
const speechOf = (answer: string): string =>
  answer.replace(NOT_SPEECH, (found) => {
    const end = /^`/.test(found) ? '' : (/[.!?？؟]+$/.exec(found)?.[0] ?? '');
    return '_'.repeat(found.length - end.length) + end;
  });

const questionsIn = ({ turn, answer }: Said): Question[] =>
  [...speechOf(answer).matchAll(SENTENCE)].flatMap(({ 0: sentence, index }) => {
    if (!ASKS.test(sentence)) return [];
    const text = answer.slice(index, index + sentence.length).trim();
    const words = new Set(plain(text).match(/[\p{L}\p{N}]+/gu) ?? []);
    return words.size === 0 ? [] : [{ turn, text, words }];
  });

const plain = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ');

/** Sørensen–Dice coefficient of the two sets of words. */
function overlap(a: Question, b: Question): number {
  let common = 0;
  for (const word of a.words) if (b.words.has(word)) common++;
  return (2 * common) / (a.words.size + b.words.size);
}

import { v } from '@agentci/lib/values';
import { answerOf, expectedOf } from '../input.ts';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';

/** Edit distance takes time proportional to the product of both lengths. */
const MAX_CHARACTERS = 20_000;

export const metric = defineMetric({
  name: 'audio_transcription_quality',
  group: 'multimodal',
  layer: 'correctness',
  needs: ['expected_output', 'an answer'],
  summary: '1 minus the word error rate of a transcript, never below 0',
  params: () =>
    metricParams({
      use_wer: v.boolean().default(true).describe('kept for specs of AgentUnit; changes nothing'),
    }),
  evaluate: (input) => {
    const expected = expectedOf(input);
    const answer = answerOf(input);
    if (expected === undefined || expected.trim() === '')
      return notMeasured('no expected_output (reference transcript)');
    if (answer === undefined) return notMeasured('no answer captured');
    if (expected.length > MAX_CHARACTERS || answer.length > MAX_CHARACTERS)
      return notMeasured(`a transcript is longer than ${MAX_CHARACTERS} characters`);
    const reference = wordsOf(expected);
    const wer = editDistance(reference, wordsOf(answer)) / reference.length;
    const characters = [...expected.trim()];
    const cer = editDistance(characters, [...answer.trim()]) / characters.length;
    const accuracy = 1 - wer;
    return measured(Math.max(0, accuracy), {
      wer,
      cer,
      accuracy,
      ...characterOverlap(expected, answer),
    });
  },
});

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Levenshtein distance over whole items, words or characters. */
function editDistance(a: readonly string[], b: readonly string[]): number {
  let previous = Uint32Array.from({ length: b.length + 1 }, (_, j) => j);
  let row = new Uint32Array(b.length + 1);
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const swap = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(swap, previous[j]! + 1, row[j - 1]! + 1);
    }
    [previous, row] = [row, previous];
  }
  return previous[b.length]!;
}

/**
 * Overlap of the character sets. Reported for comparison but never scored, because anagrams would
 * be perfect.
 */
function characterOverlap(expected: string, answer: string) {
  const reference = new Set(expected.toLowerCase());
  const given = new Set(answer.toLowerCase());
  const common = [...given].filter((character) => reference.has(character)).length;
  return {
    char_precision: given.size === 0 ? 0 : common / given.size,
    char_recall: reference.size === 0 ? 0 : common / reference.size,
  };
}

import { describeCheck, evaluate } from '@agentci/testing/check-cases';
import { expect, test } from 'vitest';
import { TEXT_METHODS } from '../text-similarity.ts';
import { check } from './similarity.ts';

describeCheck(check, {
  sample: {
    params: { to: 'the cat sat on the mat', method: 'rouge_l', min: 0.6 },
    keeps: { answer: 'The cat sat on a mat.' },
    breaks: { answer: 'dogs bark' },
  },
  issues: [
    { block: { similarity: { to: 'x', min: 0 } }, found: ['warning SPEC_CANNOT_FAIL min'] },
    { block: { similarity: { to: ' ', min: 0.5 } }, found: [' SPEC_EMPTY to'] },
    {
      block: { similarity: { to: 'x', min: 0.5, method: 'bleu', model: 'm' } },
      found: [' SPEC_NEEDS_KEY model'],
    },
  ],
  refuses: [
    { to: 'x' },
    { min: 0.5 },
    { to: 'x', min: 1.1 },
    { to: 'x', min: 0.5, method: 'cosine' },
    'x',
  ],
});

// Computed by hand from the definitions in the docs.
test.each<{ method: keyof typeof TEXT_METHODS; answer: string; to: string; value: number }>([
  { method: 'rouge_1', answer: 'the cat sat', to: 'the cat ran', value: 2 / 3 },
  { method: 'rouge_1', answer: 'the the the', to: 'the cat', value: 0.4 },
  {
    method: 'rouge_l',
    answer: 'police killed the gunman',
    to: 'police kill the gunman',
    value: 0.75,
  },
  { method: 'rouge_l', answer: 'the gunman kill police', to: 'police kill the gunman', value: 0.5 },
  { method: 'bleu', answer: 'the cat sat on the mat', to: 'the cat sat on the mat', value: 1 },
  { method: 'bleu', answer: 'the cat', to: 'the cat sat on', value: Math.exp(-1) },
  { method: 'bleu', answer: 'dogs', to: 'cats', value: 0 },
  {
    method: 'bleu',
    answer: 'the cat ran on the mat',
    to: 'the cat sat on the mat',
    value: ((5 / 6) * (4 / 6) * (2 / 5) * (1 / 4)) ** 0.25,
  },
  { method: 'levenshtein', answer: 'kitten', to: 'sitting', value: 4 / 7 },
  { method: 'levenshtein', answer: 'A', to: 'a', value: 0 },
  { method: 'levenshtein', answer: '😀b', to: '😀c', value: 0.5 },
  { method: 'token_f1', answer: 'The answer is Paris.', to: 'answer is paris', value: 1 },
  { method: 'token_f1', answer: 'in Paris', to: 'Paris', value: 2 / 3 },
  { method: 'rouge_1', answer: 'ÉTÉ', to: 'été', value: 1 },
])('$method of "$answer" and "$to" is $value', ({ method, answer, to, value }) => {
  expect(TEXT_METHODS[method](answer, to)).toBeCloseTo(value, 10);
});

test('without an embedding model the result is unknown', () => {
  const [found] = evaluate(
    'correctness',
    { similarity: { to: 'x', min: 0.5 } },
    { answer: 'x' },
  ).checks;
  expect(found).toMatchObject({ status: 'error', limit: 0.5 });
});

test('texts that are too long to compare are not compared', () => {
  const to = 'x'.repeat(100_001);
  const [found] = evaluate(
    'correctness',
    { similarity: { to, min: 0.5, method: 'levenshtein' } },
    { answer: 'x' },
  ).checks;
  expect(found?.status).toBe('error');
});

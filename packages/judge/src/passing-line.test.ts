import { describe, expect, test } from 'vitest';
import {
  countLines,
  describeLines,
  describeMoved,
  passingLine,
  SpecLines,
} from './passing-line.ts';
import { RUBRICS, type WrittenRubric } from './rubric.ts';

const none = { option: undefined, spec: new SpecLines([]) };
const of = (rubrics: readonly WrittenRubric[]) => ({
  option: undefined,
  spec: new SpecLines(rubrics),
});

describe('the passing score of a label', () => {
  test.each<[string, WrittenRubric, Parameters<typeof passingLine>[1], object]>([
    ['is its own', { rule: 'r', threshold: 0.9 }, none, { min_score: 5, from: 'label' }],
    [
      'is its own, of a template too',
      { template: 'toxicity', threshold: 0.3 },
      none,
      { min_score: 2, from: 'label' },
    ],
    [
      'is that of --threshold',
      { rule: 'r', threshold: 0.9 },
      { ...none, option: 0.4 },
      { min_score: 2, from: 'option' },
    ],
    [
      'is that of the spec, for labels without one',
      { rule: 'r' },
      of([{ rule: 'r', threshold: 0.9 }]),
      { min_score: 5, from: 'spec' },
    ],
    [
      'is the default where the spec has several',
      { rule: 'r' },
      of([{ rule: 'r' }, { rule: 'r', threshold: 0.9 }]),
      { min_score: 3, from: 'default' },
    ],
    [
      'is the default for another rule',
      { rule: 'r' },
      of([{ rule: 's', threshold: 0.9 }]),
      { min_score: 3, from: 'default' },
    ],
    [
      'says when the spec has moved on',
      { rule: 'r', threshold: 0.6 },
      of([{ rule: 'r', threshold: 0.9 }]),
      { min_score: 3, from: 'label', spec: 5 },
    ],
  ])('%s', (_, written, input, expected) => {
    expect(passingLine(written, input)).toEqual(expected);
  });

  test.each(Object.entries(RUBRICS))(
    'of the template %s is its own default',
    (template, { threshold }) => {
      const { min_score } = passingLine({ template, threshold }, none);
      expect(passingLine({ template }, none)).toEqual({ min_score, from: 'default' });
    },
  );
});

test('names every score in use and its source', () => {
  const lines = [
    { min_score: 4, from: 'label' as const },
    { min_score: 3, from: 'default' as const },
    { min_score: 4, from: 'label' as const, spec: 5 },
  ];
  expect(describeLines(countLines(lines))).toBe(
    "of 1 label a score of 3 or more passes (the rubric's default; neither the labels nor the spec name a threshold), of 2 labels a score of 4 or more passes (as in the labels)",
  );
  expect(describeMoved(lines)).toContain(
    'for 1 label the spec now asks for a score of 5 rather than 4',
  );
  expect(describeMoved(lines.slice(0, 2))).toBeUndefined();
});

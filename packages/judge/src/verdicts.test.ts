import { readFileSync } from 'node:fs';
import { cohenKappa } from '@agentci/stats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { combineVerdicts } from './combine-verdicts.ts';
import { parseVerdict } from './parse-verdict.ts';
import { VERDICT_LABELS, type Verdict } from './port.ts';
import { judgeThreshold } from './threshold.ts';

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly input: Record<string, never>;
  readonly expected: Record<string, unknown>;
}

const rows = JSON.parse(
  readFileSync(new URL('../../testing/vectors/judge.json', import.meta.url), 'utf8'),
) as readonly Row[];
const of = (kind: string): readonly Row[] => rows.filter((row) => row.kind === kind);

describe('vectors', () => {
  test.each(of('judge.threshold_score'))(
    '$id: the threshold becomes a score',
    ({ input, expected }) => {
      expect(judgeThreshold(input.threshold!)).toBe(expected.min_score);
    },
  );

  test.each(of('judge.decide'))('$id: one judge, the score decides', ({ input, expected }) => {
    const { verdict, threshold } = input as unknown as { verdict: Verdict; threshold: number };
    expect(combineVerdicts({ verdicts: [verdict], threshold })).toMatchObject(expected);
  });

  test.each(of('judge.ensemble'))('$id: several judges vote', ({ input, expected }) => {
    expect(
      combineVerdicts(input as unknown as Parameters<typeof combineVerdicts>[0]),
    ).toMatchObject(expected);
  });

  test.each(of('judge.parse_verdict'))(
    '$id: the verdict is read, or it is none',
    ({ input, expected }) => {
      expect(parseVerdict((input as unknown as { raw: string }).raw)).toMatchObject(expected);
    },
  );

  test.each(of('judge_audit.kappa'))('$id: agreement beyond chance', ({ input, expected }) => {
    const { judge, labels } = input as unknown as { judge: boolean[]; labels: boolean[] };
    expect(cohenKappa(judge, labels)).toBeCloseTo(expected.kappa as number, 9);
    expect(judge.filter((pass, i) => pass === labels[i]).length / judge.length).toBe(
      expected.agreement,
    );
  });
});

describe('an ensemble', () => {
  const v = (score: number, label: Verdict['label']) => ({ score, label });

  test.each([
    {
      when: 'two of four say fail: a tie fails closed',
      verdicts: [v(5, 'pass'), v(5, 'pass'), v(4, 'fail'), v(4, 'fail')],
      asked: 4,
      passed: false,
      majority: 'fail',
    },
    {
      when: 'three labels, one each: two are not fail',
      verdicts: [v(4, 'pass'), v(3, 'borderline'), v(2, 'fail')],
      asked: 3,
      passed: true,
      majority: 'borderline',
    },
    {
      when: 'all pass by label but the mean is too low',
      verdicts: [v(2, 'pass'), v(2, 'pass'), v(3, 'pass')],
      asked: 3,
      passed: false,
      majority: 'pass',
    },
    {
      when: 'one of three did not answer',
      verdicts: [v(4, 'pass'), v(4, 'pass')],
      asked: 3,
      passed: true,
      majority: 'pass',
    },
    {
      when: 'one of two did not answer',
      verdicts: [v(5, 'pass')],
      asked: 2,
      passed: null,
      majority: null,
    },
    {
      when: 'two of four did not answer',
      verdicts: [v(5, 'pass'), v(5, 'pass')],
      asked: 4,
      passed: null,
      majority: null,
    },
    { when: 'nobody answered', verdicts: [], asked: 3, passed: null, majority: null },
    {
      when: 'two remain and one of them says fail',
      verdicts: [v(5, 'pass'), v(5, 'fail')],
      asked: 3,
      passed: false,
      majority: 'fail',
    },
  ] as const)('$when', ({ verdicts, asked, passed, majority }) => {
    expect(combineVerdicts({ verdicts, asked, threshold: 0.6 })).toMatchObject({
      passed,
      majority,
    });
  });

  const verdict = fc.record({
    score: fc.integer({ min: 1, max: 5 }),
    label: fc.constantFrom(...VERDICT_LABELS),
  });

  test('the order of the judges does not matter', () => {
    fc.assert(
      fc.property(
        fc.array(verdict, { minLength: 1, maxLength: 7 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (verdicts, threshold) => {
          expect(combineVerdicts({ verdicts: [...verdicts].reverse(), threshold })).toEqual(
            combineVerdicts({ verdicts, threshold }),
          );
        },
      ),
    );
  });

  test('a better verdict never turns a pass into a fail', () => {
    fc.assert(
      fc.property(
        fc.array(verdict, { minLength: 1, maxLength: 7 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(),
        (verdicts, threshold, n) => {
          const better = verdicts.map((item, i) =>
            i === n % verdicts.length ? { score: 5, label: 'pass' as const } : item,
          );
          if (combineVerdicts({ verdicts, threshold }).passed)
            expect(combineVerdicts({ verdicts: better, threshold }).passed).toBe(true);
        },
      ),
    );
  });
});

describe('a reply is not a verdict if', () => {
  const verdict = '{"rationale": "r", "score": 4, "label": "pass"}';
  test.each([
    { when: 'it is empty', text: ' ' },
    { when: 'it is prose', text: 'I would say 4 of 5, pass.' },
    { when: 'the score is a fraction', text: '{"rationale": "r", "score": 4.5, "label": "pass"}' },
    { when: 'the score is off the scale', text: '{"rationale": "r", "score": 6, "label": "pass"}' },
    { when: 'the score is text', text: '{"rationale": "r", "score": "5", "label": "pass"}' },
    { when: 'the label is unknown', text: '{"rationale": "r", "score": 5, "label": "PASS"}' },
    { when: 'the rationale is missing', text: '{"score": 5, "label": "pass"}' },
    { when: 'the rationale is blank', text: '{"rationale": " ", "score": 5, "label": "pass"}' },
    {
      when: 'the fields come from the prototype',
      text: '{"__proto__": {"rationale": "r", "score": 5, "label": "pass"}}',
    },
    { when: 'it is wrapped in another object', text: `{"verdict": ${verdict}}` },
    {
      when: 'two verdicts disagree',
      text: `The answer says {"rationale": "r", "score": 5, "label": "pass"} but {"rationale": "r", "score": 1, "label": "fail"}`,
    },
    {
      when: 'it is quoted in a sentence',
      text: `The answer claims ${verdict}, which is not mine.`,
    },
    {
      when: 'its score is given twice',
      text: '{"rationale": "r", "score": 1, "score": 5, "label": "pass"}',
    },
    { when: 'it is endless', text: '{'.repeat(200_000) },
    { when: 'it is all opening braces', text: '{'.repeat(60_000) },
  ])('$when', ({ text }) => {
    expect(parseVerdict(text)).toMatchObject({ error: true });
  });

  test.each([
    { when: 'it stands after a stray brace', text: `{ thinking...\n${verdict}` },
    { when: 'it repeats the same verdict', text: `${verdict}\n${verdict}` },
    {
      when: 'the rationale quotes another one',
      text: JSON.stringify({
        rationale: `it says ${verdict.replace('4', '5')}`,
        score: 4,
        label: 'pass',
      }),
    },
  ])('but it is one when $when', ({ text }) => {
    expect(parseVerdict(text)).toMatchObject({ score: 4, label: 'pass' });
  });

  test('nothing makes the reader throw', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseVerdict(`${text}${verdict}${text}`)));
  });
});

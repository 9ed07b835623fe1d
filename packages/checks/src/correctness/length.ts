import type { Problem } from '@agentci/lib/problems';
import { type Infer, v } from '@agentci/lib/values';
import { finalText } from '@agentci/trace';
import { noAnswer } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { contradiction } from '../issues.ts';
import { between } from '../wants.ts';
import { number } from '../words.ts';

const UNITS = ['chars', 'words', 'lines'] as const;
const NAMES = { chars: 'characters', words: 'words', lines: 'lines' } as const;

const schema = v
  .strictObject({
    min: v.int().min(0).optional(),
    max: v.int().min(0).optional(),
    unit: v.enum(UNITS).optional().describe('default: chars'),
  })
  .refine(({ min, max }) => min !== undefined || max !== undefined, {
    message: 'length needs "min" or "max"',
    code: 'SPEC_REQUIRED',
  })
  .keywords({ anyOf: [{ required: ['min'] }, { required: ['max'] }] });

export const check = defineCheck({
  layer: 'correctness',
  key: 'length',
  severity: 'fail',
  order: 70,
  summary: 'The answer must be this long: `min`, `max`, in `chars`, `words` or `lines`.',
  wants: ({ unit = 'chars', ...bounds }) =>
    `An answer of ${between(bounds)} ${unit === 'chars' ? 'characters' : unit}`,
  failure: {
    why: 'the answer is too short or too long',
    help: 'the message has its length. Check the unit',
  },
  example: { min: 20, max: 120, unit: 'words' },
  schema,
  inspect: lengthIssues,
  evaluate: ({ min, max, unit = 'chars' }, { trace }) => {
    const bounds = [
      min === undefined ? '' : `at least ${number(min)}`,
      max === undefined ? '' : `at most ${number(max)}`,
    ];
    const asked = bounds.filter((text) => text !== '').join(' and ');
    const limit = { min, max };
    const answer = finalText(trace);
    if (answer === undefined)
      return unmeasured(`${noAnswer(trace)}; ${asked} ${NAMES[unit]} expected`, { limit });
    const value = lengthOf(answer.trim(), unit);
    const isKept = value >= (min ?? 0) && value <= (max ?? Number.POSITIVE_INFINITY);
    const details = { length: { value, unit } };
    return (isKept ? held : violated)(
      `the answer has ${number(value)} ${NAMES[unit]}, ${asked} wanted`,
      {
        value,
        limit,
        details,
      },
    );
  },
});

/** Characters are code points. Words are separated by white space. */
function lengthOf(text: string, unit: (typeof UNITS)[number]): number {
  if (text === '') return 0;
  if (unit === 'chars') return [...text].length;
  return unit === 'words' ? text.split(/\s+/).length : text.split(/\r\n|\r|\n/).length;
}

function lengthIssues({ min, max }: Infer<typeof schema>): Problem[] {
  if (min !== undefined && max !== undefined && min > max)
    return [contradiction(`length asks for at least ${min} and at most ${max}`, ['min'])];
  if (min === 0 && max === undefined)
    return [
      {
        severity: 'error',
        code: 'SPEC_CANNOT_FAIL',
        message: 'length with min: 0 alone cannot fail',
        path: ['min'],
      },
    ];
  return [];
}

import { expect, test } from 'vitest';
import { firstEvidence } from './first-evidence.ts';

const steps = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ step: from + i }));

test.each([
  { what: 'few are all listed', all: steps(1, 3), listed: steps(1, 3) },
  {
    what: 'of many the last says how many more there are',
    all: steps(1, 5),
    listed: [...steps(1, 2), { step: 3, more: 2 }],
  },
  {
    what: 'what a part had left out already is counted too',
    all: [...steps(1, 3), { step: 4, more: 10 }],
    listed: [...steps(1, 2), { step: 3, more: 11 }],
  },
  {
    what: 'a list that is complete but for what a part left out stays',
    all: [{ step: 1, more: 7 }],
    listed: [{ step: 1, more: 7 }],
  },
])('$what', ({ all, listed }) => {
  expect(firstEvidence(all, 3)).toEqual(listed);
});

import { v } from '@agentci/lib/values';
import { finalText } from '@agentci/trace';
import { excerpt, noAnswer } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { clip, quoted } from '../words.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'exact_match',
  severity: 'fail',
  order: 40,
  summary: 'The answer must be exactly this text, apart from white space around it. Case counts.',
  wants: (text) => `The answer is exactly ${quoted(text)}`,
  failure: {
    why: 'the answer differs, even by one character',
    help: 'compare case, spaces and the full stop at the end, or use `regex_match`',
  },
  example: 'Refunds take 14 days.',
  schema: v.string(),
  evaluate: (wanted, { trace }) => {
    const text = finalText(trace);
    const expected = wanted.trim();
    const limit = clip(expected);
    if (text === undefined)
      return unmeasured(`${noAnswer(trace)}; expected exactly ${quoted(expected)}`, { limit });
    const answer = text.trim();
    const rest = {
      value: clip(answer),
      limit,
      details: { exact_match: { matched: answer === expected } },
    };
    if (answer === expected)
      return held(`the answer is exactly the expected ${expected.length} characters`, rest);
    const at = firstDifference(answer, expected);
    return violated(
      `the answer is not the expected text: it differs at character ${at + 1}, got ${quoted(answer)}, expected ${quoted(expected)}`,
      {
        ...rest,
        evidence: [{ text: excerpt(answer, at, 1) }],
      },
    );
  },
});

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

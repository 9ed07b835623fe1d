import { expect, test } from 'vitest';
import { driftWarnings } from './drift.ts';
import { simpleTrace } from './simple.ts';
import { totals } from './totals.ts';

test.each([
  {
    what: 'the totals of a run',
    form: { input_tokens: 5000, output_tokens: 5000, total_tokens: 3 },
    tokens: 10_000,
    warned: true,
  },
  {
    what: 'a model call',
    form: { llm_calls: [{ input_tokens: 5000, output_tokens: 5000, total_tokens: 3 }] },
    tokens: 10_000,
    warned: true,
  },
  {
    what: 'a call whose total was left at 0',
    form: { llm_calls: [{ input_tokens: 5, output_tokens: 5, total_tokens: 0 }] },
    tokens: 10,
    warned: false,
  },
  {
    what: 'a call with tokens that are neither input nor output',
    form: { llm_calls: [{ input_tokens: 5, output_tokens: 5, total_tokens: 30 }] },
    tokens: 30,
    warned: false,
  },
])('of $what, the larger of total and parts counts', ({ form, tokens, warned }) => {
  const trace = simpleTrace({ answer: 'ok', ...form });
  expect(totals(trace).totalTokens).toMatchObject({ exact: true, value: tokens });
  const codes = [...trace.warnings, ...driftWarnings(trace)].map(({ code }) => code);
  expect(codes.includes('USAGE_DRIFT')).toBe(warned);
});

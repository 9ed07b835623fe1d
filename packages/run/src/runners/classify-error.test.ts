import { expect, test } from 'vitest';
import { classifyError, errorFacts, parseRetryAfter } from './classify-error.ts';

const named = (name: string) => Object.assign(new Error('x'), { name });

test.each([
  { what: 'a status of 408', error: Object.assign(new Error('x'), { status: 408 }), kind: 'infra' },
  { what: 'a status of 500', error: Object.assign(new Error('x'), { status: 500 }), kind: 'infra' },
  { what: 'a status of 499', error: Object.assign(new Error('x'), { status: 499 }), kind: 'agent' },
  {
    what: 'a status under its other name',
    error: Object.assign(new Error('x'), { statusCode: 503 }),
    kind: 'infra',
  },
  {
    what: 'the code of a lost connection',
    error: Object.assign(new Error('x'), { code: 'EPIPE' }),
    kind: 'infra',
  },
  {
    what: 'that code in its cause, as fetch has it',
    error: new TypeError('fetch failed', {
      cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
    }),
    kind: 'infra',
  },
  {
    what: 'the code of a missing file',
    error: Object.assign(new Error('x'), { code: 'ENOENT' }),
    kind: 'agent',
  },
  { what: 'the name of an SDK for a rate limit', error: named('RateLimitError'), kind: 'infra' },
  {
    what: 'the name of an SDK for a timeout',
    error: named('APIConnectionTimeoutError'),
    kind: 'infra',
  },
  {
    what: "a user's own name that only ends like one",
    error: named('NoTimeoutError'),
    kind: 'agent',
  },
  { what: 'nothing but a message', error: new Error('x'), kind: 'agent' },
])('an error with $what is of the kind $kind', ({ error, kind }) => {
  expect(classifyError(errorFacts(error)).kind).toBe(kind);
});

test.each([
  { thrown: new Error('boom'), message: 'the agent threw boom' },
  { thrown: new TypeError('boom'), message: 'the agent threw TypeError: boom' },
  {
    thrown: new Error('boom', { cause: new Error('no disk') }),
    message: 'the agent threw boom (no disk)',
  },
  { thrown: 'a text', message: 'the agent threw a text' },
  { thrown: { code: 7 }, message: 'the agent threw {"code":7}' },
  { thrown: undefined, message: 'the agent threw undefined' },
])('the thrown value is reported: $message', ({ thrown, message }) => {
  expect(classifyError(errorFacts(thrown), { prefix: 'the agent threw ' }).message).toBe(message);
});

test.each([
  { headers: { 'retry-after': '2' }, ms: 2000 },
  { headers: new Headers({ 'Retry-After': '2' }), ms: 2000 },
  { headers: { 'retry-after': 2 }, ms: undefined },
  { headers: null, ms: undefined },
])('the time to wait is read from headers of any kind: $ms', ({ headers, ms }) => {
  expect(
    classifyError(errorFacts(Object.assign(new Error('x'), { status: 429, headers }))).retryAfterMs,
  ).toBe(ms);
});

test.each([
  { value: '1.5', ms: 1500 },
  { value: '-3', ms: 0 },
  { value: 'Thu, 01 Jan 2026 00:00:10 GMT', ms: 10_000 },
  { value: 'Wed, 31 Dec 2025 00:00:00 GMT', ms: 0 },
  { value: ' ', ms: undefined },
  { value: 'soon', ms: undefined },
  { value: null, ms: undefined },
])('Retry-After "$value" is $ms ms from now', ({ value, ms }) => {
  expect(parseRetryAfter(value, Date.parse('2026-01-01T00:00:00Z'))).toBe(ms);
});

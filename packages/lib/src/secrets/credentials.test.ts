import { expect, it } from 'vitest';
import { findCredentials, withoutCredentials } from './credentials.ts';

const HEX = '0123456789abcdef0123456789abcdef';

it.each([
  [`Authorization: Bearer ${HEX}`, 'Authorization: Bearer [secret]'],
  [`{"a":"bearer ${HEX}","b":1}`, '{"a":"bearer [secret]","b":1}'],
  ['postgres://app:s3cret@db:5432/x', 'postgres://app:[secret]@db:5432/x'],
  ['redis://:pass-word@cache', 'redis://:[secret]@cache'],
  ['Basic dXNlcjpwYXNzd29yZA==', 'Basic [secret]'],
])('%s holds a credential', (text, masked) => {
  expect(withoutCredentials(text)).toBe(masked);
  // Masked values are not found again.
  expect(findCredentials(masked)).toEqual([]);
});

it.each([
  ['{"url":"http://host:8080","mail":"me@example.com"}'],
  ['{"a":"http://host","b":"me@example.com"}'],
  ['postgres://user:<password>@host, postgres://user:$' + '{PASSWORD}@host'],
  ['https://example.com/@scope/package'],
  ['the bearer responsibilities-and-duties'],
  ['Basic functionality of the program'],
  ['{"token":"delivered","logprob":-0.1}'],
])('%s holds none', (text) => {
  expect(findCredentials(text)).toEqual([]);
});

import { expect, it } from 'vitest';
import { findCredentials, keptText, keptValue, withoutCredentials } from './credentials.ts';

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

const AWS = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
const KEY = ['sk', 'proj', HEX].join('-');
it.each([
  [`my key is ${AWS}`, 'my key is [api_key]', ['api_key']],
  [`${KEY} and ${AWS}`, '[api_key] and [api_key]', ['api_key', 'api_key']],
  ['postgres://app:s3cret@db/x', 'postgres://app:[url_password]@db/x', ['url_password']],
  ['the task is risky', 'the task is risky', []],
])('%s is kept as %s', (text, kept, names) => {
  const found: string[] = [];
  expect(keptText(text, (name) => found.push(name))).toBe(kept);
  expect(found).toEqual(names);
  expect(keptText(kept)).toBe(kept);
  expect(keptValue({ [text]: [text, 1] })).toEqual({ [kept]: [kept, 1] });
});

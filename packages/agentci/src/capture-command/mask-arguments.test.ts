import { expect, test } from 'vitest';
import { maskArguments } from './mask-arguments.ts';

test.each([
  [
    ['agent', '--api-key=hunter2hunter2'],
    ['agent', '--api-key=[api-key]'],
  ],
  [
    ['agent', '--api-key', 'hunter2hunter2', 'go'],
    ['agent', '--api-key', '[api-key]', 'go'],
  ],
  [
    ['env', 'OPENAI_API_KEY=sk-0123456789', 'agent'],
    ['env', 'OPENAI_API_KEY=[OPENAI_API_KEY]', 'agent'],
  ],
  [
    ['curl', '-H', 'x-api-key: sk-0123456789'],
    ['curl', '-H', 'x-api-key: [x-api-key]'],
  ],
  [
    ['curl', '-H', 'Authorization: Bearer abcdef'],
    ['curl', '-H', 'Authorization: [Authorization]'],
  ],
  [
    ['psql', '--password=pw'],
    ['psql', '--password=[password]'],
  ],
  [
    ['a', 'https://u:pw1234@h/x?sig=abc&page=2'],
    ['a', 'https://u:[password]@h/x?sig=[sig]&page=2'],
  ],
  [
    ['a', '--max-tokens=500', '--token-limit', '7'],
    ['a', '--max-tokens=500', '--token-limit', '7'],
  ],
  [
    ['a', '--use-token', '--verbose', 'plain=1'],
    ['a', '--use-token', '--verbose', 'plain=1'],
  ],
])('the command %j is written as %j', (given, written) => {
  expect(maskArguments(given)).toEqual(written);
});

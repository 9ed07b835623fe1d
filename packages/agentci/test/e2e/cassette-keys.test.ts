import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChaos } from '@agentci/testing/chaos-upstream';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';

/** Sends `KEY_OF_THE_DAY` with the given method, and prints the answer. */
const AGENT = `
const [, , root, way] = process.argv;
const key = process.env.KEY_OF_THE_DAY;
const headers = { 'content-type': 'application/json', ...(way === 'header' ? { authorization: 'Bearer ' + key } : {}) };
const body = { model: 'm', messages: [{ role: 'user', content: way }], ...(way === 'field' ? { api_key: key } : {}) };
const path = (way === 'path' ? '/' + key : '') + '/v1/chat/completions';
const reply = await fetch(root + path, { method: 'POST', headers, body: JSON.stringify(body) });
console.log(reply.status, (await reply.text()).length);
`;
/** Has no known key format, so only its position identifies it as a secret. */
const KEY = 'zq7Pp0xw21Lk9';

let server: Awaited<ReturnType<typeof startChaos>>;
/** Sent by the server after its answer. */
let says = '';
beforeAll(async () => {
  server = await startChaos((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'm', choices: [{ message: { content: `ok ${says}` } }] }));
  });
});
afterAll(() => server.close());

const capture = (cwd: string, mode: string, way: string, key: string, name: string) =>
  cli(['capture', '--cassette', mode, '--', 'node', 'agent.mjs', server.url, way], {
    cwd,
    // The variable name does not look secret, except in the test for such names.
    env: { KEY_OF_THE_DAY: key, ...(name === 'secret' ? { GATEWAY_API_KEY: key } : {}) },
  });
const holding = (dir: string, text: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(
      (one) => one.isFile() && readFileSync(join(one.parentPath, one.name), 'utf8').includes(text),
    )
    .map(({ name }) => name);

describe('a key that the agent sends', () => {
  it.each([
    ['in a field of the body', 'field', 'plain'],
    ['in a header', 'header', 'plain'],
    ['in the path, as a variable with a telling name holds it', 'path', 'secret'],
  ])('%s is written nowhere, and another one matches', async (_, way, name) => {
    const cwd = tempDir({ 'agent.mjs': AGENT });
    says = '';
    const recorded = await capture(cwd, 'record', way, KEY, name);
    expect([recorded.code, recorded.stdout]).toEqual([0, expect.stringMatching(/^200/)]);
    expect(holding(cwd, KEY)).toEqual([]);
    const replayed = await capture(cwd, 'replay', way, 'another9Kk12wx0pP', name);
    expect([replayed.code, replayed.stdout, replayed.stderr]).toEqual([
      0,
      recorded.stdout,
      expect.any(String),
    ]);
  });

  it.each([
    ['in hexadecimal digits', 'header', Buffer.from(KEY).toString('hex')],
    ['in capital hexadecimal digits', 'header', Buffer.from(KEY).toString('hex').toUpperCase()],
    ['as it was in a field', 'field', KEY],
  ])('and the answer repeats %s refuses the recording', async (_, way, echo) => {
    const cwd = tempDir({ 'agent.mjs': AGENT });
    says = `your key is ${echo}`;
    const { code, stderr } = await capture(cwd, 'record', way, KEY, 'plain');
    expect([code, stderr]).toEqual([2, expect.stringContaining('CASSETTE_SECRET')]);
    expect(holding(cwd, echo)).toEqual([]);
  });
});

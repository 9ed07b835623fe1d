import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ScriptedModel, startScriptedModel } from '@agentci/scripted-model';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';

/** Makes one call and waits for the answer. Its other work comes from a file that tests change. */
const MODULE_AGENT = `
import { pbkdf2 } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
const extra = readFileSync(new URL('./extra.txt', import.meta.url), 'utf8');
const body = (text) => JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] });
const url = () => process.env.OPENAI_BASE_URL + '/chat/completions';
const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY };
const call = (text) => fetch(url(), { method: 'POST', headers, body: body(text) });
const callOld = (text) => request(url(), { method: 'POST', headers }, (reply) => reply.resume()).end(body(text));
export default async function agent(query) {
  const { choices } = await (await call(query)).json();
  if (extra === 'fetch') void call('behind your back');
  if (extra === 'node:http') callOld('behind your back');
  if (extra === 'timer') setTimeout(() => call('behind your back'), 5);
  if (extra === 'late timer') setTimeout(() => call('behind your back'), 60);
  if (extra === 'hidden timer') setTimeout(() => call('behind your back'), 60).unref();
  if (extra === 'signal') AbortSignal.timeout(60).addEventListener('abort', () => call('behind your back'));
  if (extra === 'thread pool') pbkdf2('a', 'b', 1000, 8, 'sha1', () => call('behind your back'));
  return choices[0].message.content;
}
`;

const COMMAND_AGENT = `
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
const extra = readFileSync(new URL('./extra.txt', import.meta.url), 'utf8');
const base = new URL(process.env.OPENAI_BASE_URL + '/chat/completions');
const body = (text) => JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] });
const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY };
let text = '';
for await (const chunk of process.stdin) text += chunk;
const reply = await fetch(base, { method: 'POST', headers, body: body(JSON.parse(text).query) });
const { choices } = await reply.json();
process.stdout.write(choices[0].message.content);
if (extra !== '') {
  const late = body('behind your back');
  const head = 'POST ' + base.pathname + ' HTTP/1.1\\r\\nhost: ' + base.host + '\\r\\ncontent-length: ' + Buffer.byteLength(late) + '\\r\\n\\r\\n';
  const sent = extra === 'half a request' ? head + late.slice(0, 10) : head + late;
  const socket = connect(Number(base.port), base.hostname, () => socket.write(sent, () => process.exit(0)));
}
`;

const SERVE_AGENT = `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const extra = readFileSync(new URL('./extra.txt', import.meta.url), 'utf8');
const headers = { 'content-type': 'application/json' };
const call = (text) => fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
  method: 'POST',
  headers,
  body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] }),
});
for await (const line of createInterface({ input: process.stdin })) {
  const { id, query } = JSON.parse(line);
  const { choices } = await (await call(query)).json();
  console.log(JSON.stringify({ id, answer: choices[0].message.content }));
  if (extra !== '') setTimeout(() => call('behind your back'), Number(extra));
}
`;

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({ script: () => ({ text: '11 metres' }) });
});
afterAll(() => model.close());

function project(runner: object, agent: string) {
  const queries = [
    { id: 'q', query: 'How deep?', correctness: { expected_in_answer: ['11 metres'] } },
  ];
  return tempDir({
    'agentci_spec.yaml': JSON.stringify({ agent: 'well', runner, queries }),
    'agent.mjs': agent,
    'extra.txt': '',
  });
}

describe('a call that is not recorded and still in flight when the agent ends is never green', () => {
  it.each([
    ['a module that does not wait for fetch', { module: './agent.mjs' }, MODULE_AGENT, 'fetch'],
    [
      'a module that does not wait for node:http',
      { module: './agent.mjs' },
      MODULE_AGENT,
      'node:http',
    ],
    ['a module with a timer', { module: './agent.mjs' }, MODULE_AGENT, 'timer'],
    ['a module with a later timer', { module: './agent.mjs' }, MODULE_AGENT, 'late timer'],
    [
      'a module with a timer that does not keep it alive',
      { module: './agent.mjs' },
      MODULE_AGENT,
      'hidden timer',
    ],
    ['a module with a signal that times out', { module: './agent.mjs' }, MODULE_AGENT, 'signal'],
    [
      'a module with work in the thread pool',
      { module: './agent.mjs' },
      MODULE_AGENT,
      'thread pool',
    ],
    [
      'a command that sends and exits',
      { command: ['node', 'agent.mjs'] },
      COMMAND_AGENT,
      'a request',
    ],
    [
      'a command that exits half-way',
      { command: ['node', 'agent.mjs'] },
      COMMAND_AGENT,
      'half a request',
    ],
  ])('%s', async (_, runner, agent, extra) => {
    const cwd = project(runner, agent);
    const env = { OPENAI_API_KEY: 'sk-test-0123456789abcdefghij', OPENAI_BASE_URL: model.url };
    expect((await cli(['test', '--cassette', 'record'], { cwd, env })).code).toBe(0);
    expect((await cli(['test', '--cassette', 'replay'], { cwd })).code).toBe(0);
    writeFileSync(join(cwd, 'extra.txt'), extra);
    const { code, stdout } = await cli(['test', '--cassette', 'replay', '-f', 'json'], { cwd });
    const run = JSON.parse(stdout) as {
      results: { error?: { kind: string } }[];
      checks: { id: string }[];
      cassette: { isolated: boolean };
    };
    const said = [run.results[0]?.error?.kind, ...run.checks.map(({ id }) => id)].filter(Boolean);
    // The timing decides whether the query is still open. Both cases are reported.
    const expected = /timer|pool|signal/.test(extra)
      ? /^cassette(?:\.late|_miss)$/
      : /^cassette_miss$/;
    expect([code, said]).toEqual([2, [expect.stringMatching(expected)]]);
    expect(run.cassette.isolated).toBe(false);
  });
});

it('a call long after the last answer of an agent that stays up leaves the run not isolated', async () => {
  const cwd = project({ command: ['node', 'agent.mjs'], mode: 'serve' }, SERVE_AGENT);
  const env = { OPENAI_API_KEY: 'sk-test-0123456789abcdefghij', OPENAI_BASE_URL: model.url };
  expect((await cli(['test', '--cassette', 'record'], { cwd, env })).code).toBe(0);
  writeFileSync(join(cwd, 'extra.txt'), '40');
  const { code, stdout } = await cli(['test', '--cassette', 'replay', '-f', 'json'], { cwd });
  const { cassette } = JSON.parse(stdout) as { cassette: object };
  expect([code, cassette]).toEqual([2, expect.objectContaining({ isolated: false })]);
});

// Timers of two programs fire in a machine-dependent order, so a call just outside the limit may be
// just inside.
describe('a recording of an agent that calls a model after its answer', { retry: 4 }, () => {
  const env = () => ({
    OPENAI_API_KEY: 'sk-test-0123456789abcdefghij',
    OPENAI_BASE_URL: model.url,
  });
  const STANDING = { command: ['node', 'agent.mjs'], mode: 'serve' };
  const fileIn = (cwd: string): string => join(cwd, 'cassettes', 'well', 'q.jsonl');

  it.each([
    ['a program that stays', STANDING, SERVE_AGENT, '60'],
    ['a module', { module: './agent.mjs' }, MODULE_AGENT, 'late timer'],
  ])('%s: is refused and leaves the earlier one as it was', async (_, runner, agent, extra) => {
    const cwd = project(runner, agent);
    expect((await cli(['test', '--cassette', 'record'], { cwd, env: env() })).code).toBe(0);
    const before = readFileSync(fileIn(cwd), 'utf8');
    writeFileSync(join(cwd, 'extra.txt'), extra);
    const { code, stdout } = await cli(['test', '--cassette', 'record', '-f', 'json'], {
      cwd,
      env: env(),
    });
    const { results } = JSON.parse(stdout) as { results: { error: object; cassette: object }[] };
    expect(results[0]).toMatchObject({
      error: { kind: 'cassette', message: expect.stringContaining('CASSETTE_LATE') },
      cassette: { new: 0 },
    });
    expect([code, readFileSync(fileIn(cwd), 'utf8')]).toEqual([2, before]);
    writeFileSync(join(cwd, 'extra.txt'), '');
    expect((await cli(['test', '--cassette', 'replay'], { cwd })).code).toBe(0);
  });

  it('writes no file where there was none, and keeps those of other queries', async () => {
    const cwd = project(
      STANDING,
      SERVE_AGENT.replace("if (extra !== '')", "if (extra !== '' && id === 'q')"),
    );
    const spec = JSON.parse(readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8')) as {
      queries: object[];
    };
    const queries = [...spec.queries, { ...spec.queries[0], id: 'other', query: 'How wide?' }];
    writeFileSync(join(cwd, 'agentci_spec.yaml'), JSON.stringify({ ...spec, queries }));
    writeFileSync(join(cwd, 'extra.txt'), '60');
    expect((await cli(['test', '-w', '1', '--cassette', 'record'], { cwd, env: env() })).code).toBe(
      2,
    );
    expect(readdirSync(join(cwd, 'cassettes', 'well'))).toEqual(['other.jsonl']);
  });

  it('holds a call that a program begins together with its answer, and replays', async () => {
    const cwd = project(STANDING, SERVE_AGENT);
    writeFileSync(join(cwd, 'extra.txt'), '1');
    const { code, stdout } = await cli(['test', '--cassette', 'record'], { cwd, env: env() });
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 calls recorded')]);
    const replayed = await cli(['test', '--cassette', 'replay', '-f', 'json'], { cwd });
    const { cassette } = JSON.parse(replayed.stdout) as { cassette: object };
    expect([replayed.code, cassette]).toEqual([
      0,
      expect.objectContaining({ hits: 2, unused: 0, isolated: true }),
    ]);
  });

  it('is refused if a program ends in the middle of a call', async () => {
    const cwd = project({ command: ['node', 'agent.mjs'] }, COMMAND_AGENT);
    expect((await cli(['test', '--cassette', 'record'], { cwd, env: env() })).code).toBe(0);
    const before = readFileSync(fileIn(cwd), 'utf8');
    writeFileSync(join(cwd, 'extra.txt'), 'half a request');
    const { code } = await cli(['test', '--cassette', 'record'], { cwd, env: env() });
    expect([code, readFileSync(fileIn(cwd), 'utf8')]).toEqual([2, before]);
  });

  it('holds a call that a program sends before it ends, and replays', async () => {
    const cwd = project({ command: ['node', 'agent.mjs'] }, COMMAND_AGENT);
    writeFileSync(join(cwd, 'extra.txt'), 'a request');
    expect((await cli(['test', '--cassette', 'record'], { cwd, env: env() })).code).toBe(0);
    expect((await cli(['test', '--cassette', 'replay'], { cwd })).code).toBe(0);
  });
});

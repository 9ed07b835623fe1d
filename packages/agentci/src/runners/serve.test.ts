import { afterEach, describe, expect, test } from 'vitest';
import { tempDir } from '../../test/support/temp-dir.ts';
import type { Runner } from './runner.ts';
import { createServeRunner } from './serve.ts';

const open: Runner[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((runner) => runner.close()));
});

/** A server that answers each line with what `reply` makes of it. */
const LOOP = (reply: string) => `
const { createInterface } = require('node:readline');
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { query, id, run, metadata, vars } = JSON.parse(line);
  ${reply}
});`;

function serve(code: string, { command = [] as string[] } = {}) {
  const dir = tempDir({ 'agent.cjs': code });
  const runner = createServeRunner(
    { kind: 'command', command: [process.execPath, 'agent.cjs', ...command], mode: 'serve', env: { MODE: 'test' } },
    { dir, env: process.env, timeoutMs: 1000, workers: 2 },
  );
  open.push(runner);
  return (query: string, rest: { id?: string; vars?: Record<string, unknown>; timeoutMs?: number } = {}) => {
    const { id = query, vars, timeoutMs = 5000 } = rest;
    const signal = AbortSignal.timeout(timeoutMs);
    return runner.run({ query, id, run: 1, signal, ...(vars === undefined ? {} : { vars }) });
  };
}
const failure = { name: 'AgentError', kind: 'agent' };

test('one process answers one query after the other', async () => {
  const ask = serve(LOOP('say({ answer: `${process.pid} ${query} ${process.env.MODE}`, tool_calls: [] });'));
  const [first, second] = [await ask('a'), await ask('b')];
  const answerOf = (value: unknown) => (value as { answer: string }).answer.split(' ');
  expect(answerOf(first.value).slice(1)).toEqual(['a', 'test']);
  expect(answerOf(second.value).slice(1)).toEqual(['b', 'test']);
  expect(answerOf(first.value)[0]).toBe(answerOf(second.value)[0]);
});

test('queries asked at the same time have a process each, and get their own answers', async () => {
  const ask = serve(LOOP('setTimeout(() => say(`${process.pid} ${query}`), Math.random() * 30);'));
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => ask(`q${i}`)));
  expect(answers.map(({ value }) => (value as string).split(' ')[1])).toEqual(answers.map((_, i) => `q${i}`));
});

test('gets variables, and a command with a variable in it is a process of its own for each value', async () => {
  const ask = serve(LOOP('say(`${process.pid} ${process.argv[2]} ${vars.model}`);'), { command: ['{{model}}'] });
  const said: string[] = [];
  for (const model of ['x', 'y', 'x']) said.push((await ask('q', { vars: { model } })).value as string);
  expect(said.map((text) => text.split(' ').slice(1).join(' '))).toEqual(['x x', 'y y', 'x x']);
  expect(said[0]!.split(' ')[0]).toBe(said[2]!.split(' ')[0]);
  expect(said[0]!.split(' ')[0]).not.toBe(said[1]!.split(' ')[0]);
});

test('lines that are no answer are noise, and are told', async () => {
  const ask = serve(LOOP('console.log("loading"); console.log(42); console.log("[info] x"); say("fine");'));
  expect(await ask('a')).toMatchObject({
    value: 'fine',
    warnings: [{ code: 'OUTPUT_NOISE', message: '3 lines printed before the answer, ignored: "loading"' }],
  });
});

test('what it printed to stderr goes to the query it was printed for', async () => {
  const ask = serve(LOOP('console.error(`about ${query}`); setTimeout(() => say("ok"), 20);'));
  expect((await ask('a')).stderr).toContain('about a');
  const { stderr } = await ask('b');
  expect(stderr).toContain('about b');
  expect(stderr).not.toContain('about a');
});

describe('a process that fails does so for one query', () => {
  test.each([
    {
      what: 'crashes',
      reply: 'if (query === "bad") { console.error("boom"); process.exit(3); }',
      message: /exited with code 3: boom/,
    },
    {
      what: 'is killed',
      reply: 'if (query === "bad") process.kill(process.pid, "SIGKILL");',
      message: /ended by SIGKILL/,
    },
    {
      what: 'prints broken JSON',
      reply: 'if (query === "bad") return console.log(\'{"answer": \');',
      message: /not JSON/,
    },
    {
      what: 'prints two answers at once',
      reply: 'if (query === "bad") return void process.stdout.write(\'"one"\\n"two"\\n\');',
      message: /two answers/,
    },
    {
      what: 'answers another query',
      reply: 'if (query === "bad") return say({ id: "other", answer: "x" });',
      message: /another query/,
    },
    {
      what: 'answers another query, which it names by number',
      reply: 'if (query === "bad") return say({ query_id: 7, answer: "x" });',
      message: /another query/,
    },
    { what: 'gives an error object', reply: 'if (query === "bad") return say({ error: "quota" });', message: /quota/ },
    { what: 'gives an empty answer', reply: 'if (query === "bad") return say("");', message: /empty/ },
    {
      what: 'prints a line without end',
      reply: 'if (query === "bad") return void process.stdout.write("x".repeat(11 << 20));',
      message: /10 MB/,
    },
  ])('that $what', async ({ reply, message }) => {
    const ask = serve(LOOP(`${reply} say(\`fine \${query}\`);`));
    expect((await ask('first')).value).toBe('fine first');
    await expect(ask('bad')).rejects.toMatchObject({ ...failure, message: expect.stringMatching(message) });
    expect((await ask('next')).value).toBe('fine next');
  });

  test('that hangs', async () => {
    const ask = serve(LOOP('if (query !== "bad") say(query);'));
    await expect(ask('bad', { timeoutMs: 200 })).rejects.toMatchObject({ name: 'AgentError', kind: 'infra' });
    expect((await ask('next')).value).toBe('next');
  });

  test('that speaks again after its answer: the next query is asked of another process', async () => {
    const ask = serve(LOOP('say(`${query} one`); if (query === "bad") setTimeout(() => say("late"), 15);'));
    expect((await ask('bad')).value).toBe('bad one');
    await new Promise((resolve) => {
      setTimeout(resolve, 60);
    });
    expect((await ask('next')).value).toBe('next one');
  });

  test('that ends before it is asked anything', async () => {
    await expect(serve('process.exit(7)')('a')).rejects.toMatchObject({
      ...failure,
      message: expect.stringMatching(/code 7/),
    });
  });

  test('that answers and ends', async () => {
    const ask = serve(LOOP('say(query); process.exitCode = 0; setTimeout(() => process.exit(), 1);'));
    expect((await ask('a')).value).toBe('a');
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
    expect((await ask('b')).value).toBe('b');
  });
});

test('a program that is not there is an error of the agent', async () => {
  const runner = createServeRunner(
    { kind: 'command', command: ['no-such-program'], mode: 'serve' },
    { dir: tempDir({}), env: process.env, timeoutMs: 1000, workers: 1 },
  );
  await expect(runner.run({ query: 'q', id: 'q', run: 1, signal: AbortSignal.timeout(3000) })).rejects.toMatchObject(
    failure,
  );
});

test('all processes are gone when the runner is closed, with what they started', async () => {
  const ask = serve(`
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
${LOOP('say(`${process.pid} ${child.pid}`);')}
process.on('SIGTERM', () => {});`);
  const pids = ((await ask('a')).value as string).split(' ').map(Number);
  await open.pop()!.close();
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
});

import { tempDir } from '@agentci/testing/temp-dir';
import { afterEach, describe, expect, test } from 'vitest';
import type { Runner } from './runner.ts';
import { createServeRunner } from './serve.ts';

const open: Runner[] = [];
const voids: string[] = [];
afterEach(async () => {
  voids.length = 0;
  await Promise.all(open.splice(0).map((runner) => runner.close()));
});

/** A server that answers each line with the result of `reply`. */
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
    {
      kind: 'command',
      command: [process.execPath, 'agent.cjs', ...command],
      mode: 'serve',
      env: { MODE: 'test' },
    },
    {
      dir,
      env: process.env,
      timeoutMs: 1000,
      workers: 2,
      onVoid: ({ id }, why) => voids.push(`${id}: ${why}`),
    },
  );
  open.push(runner);
  return (
    query: string,
    rest: { id?: string; run?: number; vars?: Record<string, unknown>; timeoutMs?: number } = {},
  ) => {
    const { id = query, run = 1, vars, timeoutMs = 5000 } = rest;
    const signal = AbortSignal.timeout(timeoutMs);
    return runner.run({ query, id, run, signal, ...(vars === undefined ? {} : { vars }) });
  };
}
const failure = { name: 'AgentError', kind: 'agent' };

test('one process answers one query after the other', async () => {
  const ask = serve(
    LOOP('say({ answer: `${process.pid} ${query} ${process.env.MODE}`, tool_calls: [] });'),
  );
  const [first, second] = [await ask('a'), await ask('b')];
  const answerOf = (value: unknown) => (value as { answer: string }).answer.split(' ');
  expect(answerOf(first.value).slice(1)).toEqual(['a', 'test']);
  expect(answerOf(second.value).slice(1)).toEqual(['b', 'test']);
  expect(answerOf(first.value)[0]).toBe(answerOf(second.value)[0]);
});

test('queries asked at the same time have a process each, and get their own answers', async () => {
  const ask = serve(LOOP('setTimeout(() => say(`${process.pid} ${query}`), Math.random() * 30);'));
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => ask(`q${i}`)));
  expect(answers.map(({ value }) => (value as string).split(' ')[1])).toEqual(
    answers.map((_, i) => `q${i}`),
  );
});

test('gets variables, and a command with a variable has one process per value', async () => {
  const ask = serve(LOOP('say(`${process.pid} ${process.argv[2]} ${vars.model}`);'), {
    command: ['{{model}}'],
  });
  const said: string[] = [];
  for (const model of ['x', 'y', 'x'])
    said.push((await ask('q', { vars: { model } })).value as string);
  expect(said.map((text) => text.split(' ').slice(1).join(' '))).toEqual(['x x', 'y y', 'x x']);
  expect(said[0]!.split(' ')[0]).toBe(said[2]!.split(' ')[0]);
  expect(said[0]!.split(' ')[0]).not.toBe(said[1]!.split(' ')[0]);
});

test('lines that are not answers are noise and reported', async () => {
  const ask = serve(
    LOOP('console.log("loading"); console.log(42); console.log("[info] x"); say("fine");'),
  );
  expect(await ask('a')).toMatchObject({
    value: 'fine',
    warnings: [
      { code: 'OUTPUT_NOISE', message: '3 lines printed before the answer, ignored: "loading"' },
    ],
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
    {
      what: 'gives an error object',
      reply: 'if (query === "bad") return say({ error: "quota" });',
      message: /quota/,
    },
    {
      what: 'gives an empty answer',
      reply: 'if (query === "bad") return say("");',
      message: /empty/,
    },
    {
      what: 'prints a line without end',
      reply: 'if (query === "bad") return void process.stdout.write("x".repeat(11 << 20));',
      message: /10 MB/,
    },
  ])('that $what', async ({ reply, message }) => {
    const ask = serve(LOOP(`${reply} say(\`fine \${query}\`);`));
    expect((await ask('first')).value).toBe('fine first');
    await expect(ask('bad')).rejects.toMatchObject({
      ...failure,
      message: expect.stringMatching(message),
    });
    expect((await ask('next')).value).toBe('fine next');
  });

  test('that hangs', async () => {
    const ask = serve(LOOP('if (query !== "bad") say(query);'));
    await expect(ask('bad', { timeoutMs: 200 })).rejects.toMatchObject({
      name: 'AgentError',
      kind: 'infra',
    });
    expect((await ask('next')).value).toBe('next');
  });

  test('that speaks again after its answer: the next query is asked of another process', async () => {
    const ask = serve(
      LOOP('say(`${query} one`); if (query === "bad") setTimeout(() => say("late"), 150);'),
    );
    expect((await ask('bad')).value).toBe('bad one');
    await new Promise((resolve) => {
      setTimeout(resolve, 400);
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
    const ask = serve(
      LOOP('say(query); process.exitCode = 0; setTimeout(() => process.exit(), 1);'),
    );
    expect((await ask('a')).value).toBe('a');
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
    expect((await ask('b')).value).toBe('b');
  });
});

const closeAll = () => Promise.all(open.splice(0).map((runner) => runner.close()));
const pause = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

describe('an answer too many, without an id', () => {
  // One answer behind from "b" on. Sends the last one when there are no more questions.
  const LATE = LOOP(`
    globalThis.due ??= (process.stdin.on("end", () => say(globalThis.due)), "to a");
    say(globalThis.due);
    globalThis.due = query === "a" ? "to a again" : \`to \${query}\`;
  `);

  test('voids all that this process answered, however late it is found', async () => {
    const ask = serve(LATE);
    for (const query of ['a', 'b', 'c']) await ask(query);
    await closeAll();
    expect(voids.map((text) => text.slice(0, 2))).toEqual(['a:', 'b:', 'c:']);
    expect(voids[1]).toContain('send the "id" of the query back');
  });

  test('is waited for at the end as long as an answer took', async () => {
    const ask = serve(
      LOOP('setTimeout(() => say("one"), 500); setTimeout(() => say("two"), 1100);'),
    );
    await ask('a');
    await closeAll();
    expect(voids).toHaveLength(1);
  });

  test('two at once are an error of that query, and void earlier answers', async () => {
    const ask = serve(LOOP('say("x"); if (query === "b") say("y");'));
    await ask('a');
    await expect(ask('b')).rejects.toMatchObject(failure);
    expect(voids.map((text) => text.slice(0, 2))).toEqual(['a:']);
  });

  test('with ids only the query that has two answers is void, and the next is not answered by it', async () => {
    const ask = serve(
      LOOP(
        'if (query === "a") globalThis.a = id; say(query === "b" ? { id: globalThis.a, answer: "again" } : { id, answer: query });',
      ),
    );
    await ask('first');
    await ask('a');
    await expect(ask('b')).rejects.toMatchObject({
      message: expect.stringMatching(/another query.*"a"/),
    });
    expect((await ask('c')).value).toMatchObject({ answer: 'c' });
    await closeAll();
    expect(voids).toEqual([expect.stringMatching(/^a: .* printed two answers to this query/)]);
  });

  test('a reply that is not an answer may be a log line: the next query gets another process', async () => {
    const ask = serve(
      LOOP('if (query === "a") say({}); setTimeout(() => say(`to ${query}`), 20);'),
    );
    await expect(ask('a')).rejects.toMatchObject(failure);
    expect((await ask('b')).value).toBe('to b');
  });

  test('a server that answers once each time voids nothing', async () => {
    const ask = serve(LOOP('setTimeout(() => say(query), 5);'));
    for (const query of ['a', 'b', 'c']) await ask(query);
    await closeAll();
    expect(voids).toEqual([]);
  });
});

describe('a process that falls after its answer', () => {
  test.each([0, 1, 3, 8, 40])('%i ms later: the fault is of the query it answered', async (ms) => {
    const fall = `setTimeout(() => { console.error("late fault"); process.exit(4); }, ${ms})`;
    const ask = serve(
      LOOP(`if (query === "a") { say(query); ${fall}; } else setTimeout(() => say(query), 100);`),
    );
    expect((await ask('a')).value).toBe('a');
    expect((await ask('b')).value).toBe('b');
    await pause(150);
    await closeAll();
    expect(voids).toEqual([
      expect.stringMatching(/^a: .*exited with code 4 after it had answered/),
    ]);
  });

  test('a process that falls long into a query falls over that one', async () => {
    const ask = serve(
      LOOP('if (query === "a") say(query); else setTimeout(() => process.exit(4), 900);'),
    );
    await ask('a', { timeoutMs: 5000 });
    await expect(ask('b', { timeoutMs: 5000 })).rejects.toMatchObject({
      message: expect.stringMatching(/code 4/),
    });
    await closeAll();
    expect(voids).toEqual([]);
  });

  test('one that ends with code 0 after every answer is started for every query', async () => {
    const ask = serve(LOOP('say(query); process.stdout.write("", () => process.exit(0));'));
    for (const query of ['a', 'b', 'c']) expect((await ask(query)).value).toBe(query);
    await closeAll();
    expect(voids).toEqual([]);
  });

  test('the last one too', async () => {
    const ask = serve(LOOP('say(query); if (query === "b") setTimeout(() => process.exit(4), 5);'));
    await ask('a');
    await ask('b');
    await closeAll();
    expect(voids).toEqual([expect.stringMatching(/^b: .*exited with code 4/)]);
  });

  test('the query is never named as the one before itself', async () => {
    const ask = serve(LOOP('say(query); if (run === 2) setTimeout(() => process.exit(4), 5);'));
    await ask('a', { run: 1 });
    await ask('a', { run: 2 });
    await closeAll();
    expect(voids).toEqual([
      expect.stringMatching(/^a: .* after it had answered this query \(and before it run 1 of/),
    ]);
  });

  test.each([
    { what: 'ends with code 0', code: 'say(query); setTimeout(() => process.exit(0), 5);' },
    {
      what: 'fails when its input is closed',
      code: 'say(query); process.stdin.on("end", () => process.exit(1));',
    },
  ])('a process that $what has done its work', async ({ code }) => {
    const ask = serve(LOOP(code));
    await ask('a');
    await closeAll();
    expect(voids).toEqual([]);
  });
});

describe('a program that prints text', () => {
  test.each([
    {
      what: 'its answer as text',
      reply: 'console.log("Your order is on its way")',
      shown: /"Your order is on its way"/,
    },
    {
      what: 'text without a line break',
      reply: 'process.stdout.write("on its way")',
      shown: /without a line break/,
    },
    { what: 'a list', reply: 'say(["on its way"])', shown: /on its way/ },
  ])('$what: the error shows it and says what a line must be', async ({ reply, shown }) => {
    const error = await serve(LOOP(reply))('a', { timeoutMs: 1500 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      ...failure,
      explainsTimeout: true,
      message: expect.stringMatching(shown),
    });
    expect(error).toMatchObject({ message: expect.stringMatching(/one line of JSON/) });
  });

  test('and ends: the error shows both', async () => {
    await expect(serve('console.log("hello")')('a')).rejects.toMatchObject({
      message: expect.stringMatching(/exited with code 0; it printed "hello".*one line of JSON/),
    });
  });
});

describe('the turns of a conversation', () => {
  const talk = async (code: string, turns: number, first?: string) => {
    const ask = serve(code);
    if (first !== undefined) await ask(first);
    const session = await open.at(-1)!.open!();
    for (let turn = 1; turn <= turns; turn++)
      await session.run({
        query: 'hi',
        id: 'chat',
        run: 1,
        signal: AbortSignal.timeout(5000),
        turn: { conversation: 'c', turn, message: `m${turn}` },
      });
    await session.close();
    await pause(100);
    await closeAll();
    return voids.splice(0);
  };
  const FALLS = LOOP(
    'const { turn } = JSON.parse(line); say(query); if (turn === 2) setTimeout(() => process.exit(4), 5);',
  );

  test.each([
    { what: 'alone', first: undefined, before: /answered turn 2 of this conversation$/ },
    {
      what: 'after a query',
      first: 'x',
      before: /answered turn 2 of this conversation \(and before it "x"\)$/,
    },
  ])(
    'a process that falls after a turn, $what: the message names that turn',
    async ({ first, before }) => {
      const found = await talk(FALLS, 2, first);
      expect(found).toEqual([expect.stringMatching(/^chat: .*exited with code 4/)]);
      expect(found[0]).toMatch(before);
    },
  );

  test('an answer too many voids the conversation once, also where replies have its id', async () => {
    const late = LOOP(
      'setTimeout(() => say({ id, answer: "one" }), 800); if (JSON.parse(line).turn === 2) { setTimeout(() => say({ id, answer: "again" }), 1750); }',
    );
    expect(await talk(late, 2)).toEqual([
      expect.stringMatching(/^chat: .*more answers than this conversation has turns/),
    ]);
  });
});

test('a program that is not there is an error of the agent', async () => {
  const runner = createServeRunner(
    { kind: 'command', command: ['no-such-program'], mode: 'serve' },
    { dir: tempDir({}), env: process.env, timeoutMs: 1000, workers: 1 },
  );
  await expect(
    runner.run({ query: 'q', id: 'q', run: 1, signal: AbortSignal.timeout(3000) }),
  ).rejects.toMatchObject(failure);
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

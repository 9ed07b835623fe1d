import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CodeItem } from '@agentci/checks';
import { SECRETS } from '@agentci/lib/secrets';
import { simpleTrace, totals } from '@agentci/trace';
import { afterAll, describe, expect, test } from 'vitest';
import { createCodeRunner } from './code-verdicts.ts';

const dir = mkdtempSync(join(tmpdir(), 'agentci-code-'));
cpSync(
  fileURLToPath(new URL('../../../../docs/checks/examples', import.meta.url)),
  join(dir, 'examples'),
  {
    recursive: true,
  },
);
const env = { ...process.env, MY_KEY: 'sk-secret', MY_OTHER: 'x' };
const runner = createCodeRunner({ dir, env });
afterAll(async () => {
  await runner.close();
  rmSync(dir, { recursive: true });
});

const trace = simpleTrace({
  answer: '{"refund": true, "text": "please wait"}',
  tool_calls: [{ name: 'lookup', args: { id: 1 }, result: 'ok', latency_ms: 5 }],
});
const query = { query: 'q', vars: { n: 2 }, expectedOutput: 'e' };
const context = { trace, totals: totals(trace), siblings: {}, query };
const run = (item: CodeItem) => runner.run(item, context);

function module(name: string, body: string): string {
  writeFileSync(join(dir, name), body);
  return `./${name}`;
}
const node = (code: string): CodeItem => ({
  command: [process.execPath, '-e', code],
  timeout_ms: 5000,
});

describe('a function', () => {
  test.each([
    { when: 'true', body: 'export default () => true', outcome: 'held' },
    { when: 'false', body: 'export default () => false', outcome: 'violated' },
    {
      when: 'a promise of a verdict',
      body: 'export default async () => ({ status: "pass", message: "fine" })',
      outcome: 'held',
    },
    {
      when: 'fail with a reason',
      body: 'export default () => ({ status: "fail", message: "rude", value: 0.2 })',
      outcome: 'violated',
    },
    { when: 'nothing', body: 'export default () => {}', outcome: 'unmeasured' },
    { when: 'a word', body: 'export default () => "pass"', outcome: 'unmeasured' },
    { when: 'a number', body: 'export default () => 1', outcome: 'unmeasured' },
    {
      when: 'another status',
      body: 'export default () => ({ status: "PASSED" })',
      outcome: 'unmeasured',
    },
    {
      when: 'an exception',
      body: 'export default () => { throw new Error("boom") }',
      outcome: 'unmeasured',
    },
    {
      when: 'the end of the process',
      body: 'export default () => process.exit(0)',
      outcome: 'unmeasured',
    },
    {
      when: 'true before a promise that fails',
      body: 'export default () => { Promise.reject(new Error("not equal")); return true; }',
      outcome: 'unmeasured',
    },
    {
      when: 'true before an async part that fails later',
      body: 'export default () => { (async () => { await new Promise((r) => setTimeout(r, 60)); throw new Error("not equal"); })(); return true; }',
      outcome: 'unmeasured',
    },
    {
      when: 'true before a timer that throws',
      body: 'export default () => { setTimeout(() => { throw new Error("late"); }, 20); return true; }',
      outcome: 'unmeasured',
    },
    {
      when: 'true and leaves a timer running',
      body: 'export default () => { setInterval(() => {}, 1000); return true; }',
      outcome: 'held',
    },
    { when: 'no function', body: 'export default 7', outcome: 'unmeasured' },
    { when: 'no module', body: 'export default (', outcome: 'unmeasured' },
  ])('that gives $when: $outcome', async ({ when, body, outcome }) => {
    expect(await run(module(`${when.replaceAll(' ', '-')}.mjs`, body))).toMatchObject({ outcome });
  });

  test('gets the run, as JSON', async () => {
    const file = module(
      'input.mjs',
      'export const tell = (run) => ({ status: "fail", message: JSON.stringify({ ...run, trace: run.trace.schema }) })',
    );
    const { message } = await run(`${file}#tell`);
    expect(JSON.parse(message.slice(message.indexOf('{')))).toEqual({
      query: 'q',
      answer: '{"refund": true, "text": "please wait"}',
      output: { refund: true, text: 'please wait' },
      calls: [{ name: 'lookup', args: { id: 1 }, result: 'ok', error: null, latency_ms: 5 }],
      trace: 'agentci.trace/1',
      vars: { n: 2 },
      expected: 'e',
    });
  });

  test('that never ends is stopped, and the next one runs', async () => {
    const file = module('busy.mjs', 'export default ({ vars }) => { for (;;); }');
    const started = performance.now();
    expect(await run({ module: file, timeout_ms: 300 })).toMatchObject({
      outcome: 'unmeasured',
      severity: 'fail',
      message: 'code ./busy.mjs: no verdict within 300 ms',
    });
    expect(performance.now() - started).toBeLessThan(5000);
    expect(await run({ module: file, timeout_ms: 300 })).toMatchObject({ outcome: 'unmeasured' });
  });

  test('that fails long after its verdict is reported at the end', async () => {
    const own = createCodeRunner({ dir, env });
    const late = module(
      'late.mjs',
      'export default () => { setTimeout(() => { throw new Error("too late"); }, 400); return true; }',
    );
    expect(await own.run(late, context)).toMatchObject({ outcome: 'held' });
    await expect
      .poll(() => own.lateErrors(), { timeout: 3000 })
      .toEqual(['code ./late.mjs: too late']);
    await own.close();
  });

  test('what it is given by name is masked, a password in it too', async () => {
    const dsn = { MY_DSN: 'postgres://me:hunter2-hunter2@db.example/x' };
    const own = createCodeRunner({ dir, env: { ...process.env, ...dsn } });
    const file = module(
      'dsn.mjs',
      'export default () => ({ status: "fail", message: process.env.MY_DSN })',
    );
    const { message } = await own.run({ module: file, env: ['MY_DSN'] }, context);
    expect(SECRETS.text(message)).toBe('code ./dsn.mjs: [MY_DSN]');
    expect(SECRETS.text('for user me: hunter2-hunter2')).toBe('for user me: [MY_DSN]');
    await own.close();
  });

  test('sees no keys but those named', async () => {
    const file = module(
      'env.mjs',
      'export default () => ({ status: "fail", message: String(process.env.MY_KEY) + process.env.MY_OTHER })',
    );
    expect((await run(file)).message).toContain('undefinedundefined');
    expect((await run({ module: file, env: ['MY_OTHER'] })).message).toContain('undefinedx');
  });

  test('in TypeScript, from the docs', async () => {
    expect(await run('./examples/tone.ts#isPolite')).toMatchObject({ outcome: 'held' });
    expect(await run('./examples/tone.ts#isShort')).toMatchObject({ outcome: 'held' });
    expect(await run('./examples/tone.ts#isMissing')).toMatchObject({ outcome: 'unmeasured' });
  });
});

describe('a program', () => {
  test.each([
    { when: 'true', code: 'console.log(true)', outcome: 'held' },
    {
      when: 'a verdict',
      code: 'console.log(JSON.stringify({status: "fail", message: "no"}))',
      outcome: 'violated',
    },
    {
      when: 'a verdict from its input',
      code: 'let t = ""; process.stdin.on("data", (c) => (t += c)).on("end", () => console.log(JSON.parse(t).calls.length === 1))',
      outcome: 'held',
    },
    {
      when: 'true and code 3',
      code: 'console.log(true); process.exitCode = 3',
      outcome: 'unmeasured',
    },
    { when: 'nothing', code: '', outcome: 'unmeasured' },
    { when: 'words', code: 'console.log("all good")', outcome: 'unmeasured' },
    { when: 'two verdicts', code: 'console.log(true); console.log(true)', outcome: 'unmeasured' },
    {
      when: 'too much',
      code: 'for (let i = 0; i < 300; i++) console.log("x".repeat(10000))',
      outcome: 'unmeasured',
    },
    {
      when: 'a key it should not see',
      code: 'console.log(process.env.MY_KEY === undefined)',
      outcome: 'held',
    },
  ])('that prints $when: $outcome', async ({ code, outcome }) => {
    expect(await run(node(code))).toMatchObject({ outcome });
  });

  test('that does not end is stopped', async () => {
    const item: CodeItem = {
      command: [process.execPath, '-e', 'setInterval(() => {}, 1000)'],
      timeout_ms: 300,
    };
    expect(await run(item)).toMatchObject({
      outcome: 'unmeasured',
      message: expect.stringContaining('no verdict within 300 ms'),
    });
  });

  test('that is not there', async () => {
    expect(await run({ command: ['no-such-program'] })).toMatchObject({
      outcome: 'unmeasured',
      severity: 'fail',
    });
  });

  test('in Python, with the helper from the docs', async () => {
    expect(await run({ command: ['python3', 'examples/check.py'] })).toMatchObject({
      outcome: 'held',
      message: 'code python3 examples/check.py: mentions the refund',
    });
  });
});

test('the Python helper in the docs is twelve lines long', async () => {
  const { readFileSync } = await import('node:fs');
  const text = readFileSync(join(dir, 'examples', 'agentci_check.py'), 'utf8');
  expect(
    text
      .trim()
      .split('\n')
      .filter((line) => line.trim() !== '').length,
  ).toBeLessThanOrEqual(12);
});

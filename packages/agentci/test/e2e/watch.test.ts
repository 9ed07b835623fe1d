import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterEach, describe, expect, test } from 'vitest';

const PATIENCE_MS = 15_000;
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Logs every question. */
const agent = `
import { appendFileSync } from 'node:fs';
import { word } from './word.mjs';
export default async (query, { vars }) => {
  appendFileSync(new URL('asked.log', import.meta.url), query + '\\n');
  return 'the ' + word + ' answer to ' + query;
};
`;
const spec = `agent: demo
runner: {module: ./agent.mjs}
queries:
  - {id: one, query: first question, correctness: {expected_in_answer: [first]}}
  - query: "about {{city}}"
    rows: cities.csv
    correctness: {expected_in_answer: ["{{city}}"]}
`;
const project = () =>
  tempDir({
    'agentci_spec.yaml': spec,
    'agent.mjs': agent,
    'word.mjs': "export const word = 'good';\n",
    'cities.csv': 'id,city\nparis,Paris\nrome,Rome\n',
  });

/** A process in watch mode, and its output so far. */
function watch(cwd: string, args: string[] = []) {
  // One pipe for both, because with two pipes the order of the output is undefined.
  const child = spawn(
    'sh',
    ['-c', 'exec "$@" 2>&1', 'sh', process.execPath, CLI, 'test', '--watch', ...args],
    {
      cwd,
      env: { ...process.env, NO_COLOR: '1' },
    },
  );
  children.push(child);
  let text = '';
  let from = 0;
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  /** The output since the last change, once it is watching again. */
  const settled = async (): Promise<string> => {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const at = text.indexOf('watching ', from);
      const end = at === -1 ? -1 : text.indexOf('\n', at);
      if (end !== -1) {
        const said = text.slice(from, end);
        from = end + 1;
        return said;
      }
      if (Date.now() > until) throw new Error(`nothing came after:\n${text.slice(from)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return { child, closed, settled };
}

/** The questions since the last call. */
function asker(cwd: string) {
  let seen = 0;
  return (): string[] => {
    const file = join(cwd, 'asked.log');
    const all = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    const fresh = all.slice(seen);
    seen = all.length;
    return fresh.sort();
  };
}

describe('--watch', () => {
  test('runs what a change touches, and nothing else', async () => {
    const cwd = project();
    const asked = asker(cwd);
    const { child, closed, settled } = watch(cwd);
    expect(await settled()).toContain('3 queries: 3 passed');
    expect(asked()).toEqual(['about Paris', 'about Rome', 'first question']);

    writeFileSync(join(cwd, 'cities.csv'), 'id,city\nparis,Paris\nrome,Rome\nberlin,Berlin\n');
    expect(await settled()).toContain('1 query: 1 passed');
    expect(asked()).toEqual(['about Berlin']);

    writeFileSync(join(cwd, 'agentci_spec.yaml'), spec.replace('[first]', '[first, missing]'));
    const judged = await settled();
    expect(judged).toContain('judging 1 query again, without running the agent');
    expect(judged).toContain('1 query: 1 failed');
    expect(asked()).toEqual([]);

    writeFileSync(join(cwd, 'word.mjs'), "export const word = 'missing';\n");
    expect(await settled()).toContain('4 queries: 4 passed');
    expect(asked()).toHaveLength(4);

    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      spec.replace('first question', 'a new first question'),
    );
    expect(await settled()).toContain('1 query: 1 passed');
    expect(asked()).toEqual(['a new first question']);

    child.kill('SIGINT');
    expect(await closed).toBe(0);
  });

  test('a mistake in the spec is reported, and its fix is noticed', async () => {
    const cwd = project();
    const { child, closed, settled } = watch(cwd);
    await settled();
    writeFileSync(join(cwd, 'agentci_spec.yaml'), spec.replace('correctness', 'corectness'));
    expect(await settled()).toContain('SPEC_UNKNOWN_KEY');
    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      spec.replace('first question', 'the first question'),
    );
    expect(await settled()).toContain('1 query: 1 passed');
    child.kill('SIGINT');
    expect(await closed).toBe(0);
  });

  test('recordings that change are judged again', async () => {
    const recording = (answer: string) =>
      `${JSON.stringify({ id: 'one', query: 'q', answer, tool_calls: [] })}\n`;
    const cwd = tempDir({
      'agentci_spec.yaml':
        'agent: demo\nqueries:\n  - {id: one, query: q, correctness: {expected_in_answer: [fine]}}\n',
      't.jsonl': recording('fine'),
    });
    const { child, closed, settled } = watch(cwd, ['--traces', 't.jsonl']);
    expect(await settled()).toContain('1 passed');
    writeFileSync(join(cwd, 't.jsonl'), recording('broken'));
    expect(await settled()).toContain('1 failed');
    child.kill('SIGINT');
    expect(await closed).toBe(0);
  });
});

test.each(['--resume', '--failed', '--dry-run'])(
  '--watch and %s exclude each other',
  async (flag) => {
    const { closed } = watch(project(), [flag]);
    expect(await closed).toBe(2);
  },
);

import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const agent = (reply: string) => `
const { createInterface } = require('node:readline');
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { query } = JSON.parse(line);
  ${reply}
});`;

const SPEC = `agent: support
runner: {command: [node, agent.cjs], mode: serve, timeout_ms: 2000}
queries:
  - {id: a, query: one, correctness: {expected_in_answer: [fine]}}
  - {id: b, query: two, correctness: {expected_in_answer: [fine]}}
`;

test.each([
  {
    what: 'answers that may be swapped',
    // The second answer to the first question arrives during the second question, even on a slow
    // machine.
    reply: 'if (query === "two") say("fine"); setTimeout(() => say(`fine ${query}`), 60);',
    errors: { a: /more answers than it was asked/, b: /more answers than it was asked/ },
  },
  {
    what: 'a crash after the last answer',
    reply: 'say("fine"); if (query === "two") setTimeout(() => process.exit(3), 5);',
    errors: { b: /exited with code 3 after it had answered/ },
  },
  {
    what: 'plain text',
    reply: 'console.log("fine")',
    errors: { a: /printed "fine".*one line of JSON/, b: /printed "fine".*one line of JSON/ },
  },
])(
  '$what: exit 2, in the run and when its recordings are judged again',
  async ({ reply, errors }) => {
    const cwd = tempDir({ 'agentci_spec.yaml': SPEC, 'agent.cjs': agent(reply) });
    const { code, stdout } = await cli(['test', '--workers', '1', '--format', 'json'], { cwd });
    expect(code).toBe(2);
    const { results, run_id } = JSON.parse(stdout) as {
      run_id: string;
      results: { id: string; error?: { message: string } }[];
    };
    const found = results.filter(({ error }) => error !== undefined);
    expect(found.map(({ id }) => id)).toEqual(Object.keys(errors));
    for (const { id, error } of found)
      expect(error!.message).toMatch(errors[id as keyof typeof errors]!);
    expect((await cli(['eval', '--run', run_id], { cwd })).code).toBe(2);
  },
);

test('spans that an agent sends some time after its first answer belong to it', async () => {
  const reply = `
  say('fine');
  const now = Date.now();
  const span = {
    traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'execute_tool sounding',
    startTimeUnixNano: now + '000000', endTimeUnixNano: now + 1 + '000000',
    attributes: [
      { key: 'gen_ai.operation.name', value: { stringValue: 'execute_tool' } },
      { key: 'gen_ai.tool.name', value: { stringValue: 'sounding' } },
    ],
  };
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  const send = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  setTimeout(() => fetch(process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, send), 100);`;
  const spec = `agent: support
runner: {command: [node, agent.cjs], mode: serve, capture: [otlp]}
queries:
  - {id: a, query: one, path: {expected_tools: [sounding]}}
`;
  const cwd = tempDir({ 'agentci_spec.yaml': spec, 'agent.cjs': agent(reply) });
  const { code, stdout } = await cli(['test', '--format', 'json'], { cwd });
  expect(JSON.parse(stdout).results).toMatchObject([{ status: 'pass' }]);
  expect(code).toBe(0);
});

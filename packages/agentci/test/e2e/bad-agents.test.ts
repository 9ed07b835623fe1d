import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const agent = `
let input = '';
process.stdin.on('data', (chunk) => { input += chunk }).on('end', () => {
  const { query } = JSON.parse(input);
  if (query === 'throws') throw new Error('the database is on fire');
  else if (query === 'hangs') setInterval(() => {}, 1000);
  else if (query === 'garbage') process.stdout.write(Buffer.from([0xff, 0x00, 0xfe]));
  else if (query === 'floods') { const x = 'x'.repeat(1 << 20); let n = 0; const go = () => { if (n++ < 50) process.stdout.write(x, go) }; go(); }
  else if (query === 'exits') process.exit(7);
  else if (query === 'cut') process.stdout.write('{"answer": "ok", "tool_calls": [{"name"');
  else if (query === 'silent') {}
  else console.log('ok');
});
`;
const queries = [
  'fine',
  'throws',
  'hangs',
  'garbage',
  'floods',
  'exits',
  'cut',
  'silent',
  'also fine',
];
const spec = `version: 1
agent: demo
runner:
  command: [${process.execPath}, agent.js]
  timeout_ms: 3000
  retries: 0
queries:
${queries.map((query) => `  - {query: ${query}, correctness: {expected_in_answer: [ok]}}`).join('\n')}
`;

test('each bad agent is one error with its reason, the good ones pass, and the exit code is 2', async () => {
  const { code, stdout, stderr } = await cli(['test', '-f', 'json', '-w', '2'], {
    cwd: tempDir({ 'agentci_spec.yaml': spec, 'agent.js': agent }),
  });
  expect(stderr).not.toMatch(/^\s+at /m);
  const { results } = JSON.parse(stdout) as {
    results: { query: string; status: string; error?: { message: string; stderr?: string } }[];
  };
  expect(results.map(({ query, status }) => [query, status])).toEqual(
    queries.map((query) => [query, query.includes('fine') ? 'pass' : 'error']),
  );
  const reason = Object.fromEntries(results.map(({ query, error }) => [query, error]));
  expect(reason.throws?.stderr).toContain('the database is on fire');
  expect(reason.hangs?.message).toMatch(/\[INFRA\] no answer within 3000 ms/);
  expect(reason.garbage?.message).toMatch(/UTF-8/);
  expect(reason.floods?.message).toMatch(/10 MB/);
  expect(reason.exits?.message).toMatch(/code 7/);
  expect(reason.cut?.message).toMatch(/JSON/);
  expect(reason.silent?.message).toMatch(/nothing/);
  expect(code).toBe(2);
});

test('an agent that returns null is an error', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml':
      'version: 1\nagent: demo\nrunner: {module: ./agent.ts}\nqueries:\n  - {query: q, correctness: {not_in_answer: [x]}}\n',
    'agent.ts': 'export default (): null => { console.log("noise on stdout"); return null; };',
  });
  const { code, stdout } = await cli(['test', '-f', 'json'], { cwd });
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    results: [{ status: 'error', error: { message: expect.stringContaining('null') } }],
  });
});

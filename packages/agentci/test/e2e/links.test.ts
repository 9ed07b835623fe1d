import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const SPEC = `agent: shop
queries:
  - {id: a, query: q, correctness: {expected_in_answer: [ok]}}
`;

/** A checkout with a link committed by a pull request, and its external target. */
function checkout(link: string, isFolder: boolean): { cwd: string; outside: string } {
  const outside = tempDir({ 'kept.txt': 'kept\n' });
  const cwd = tempDir({
    'agentci_spec.yaml': SPEC,
    'traces.jsonl':
      '{"id":"a","query":"q","answer":"ok","tool_calls":[{"name":"look","args":{"id":7}}]}\n',
  });
  mkdirSync(dirname(join(cwd, link)), { recursive: true });
  rmSync(join(cwd, link), { force: true });
  symlinkSync(isFolder ? outside : join(outside, 'kept.txt'), join(cwd, link));
  return { cwd, outside };
}

const TEST = ['test', '--traces', 'traces.jsonl'];

test.each([
  { what: 'a report', link: 'report.json', args: [...TEST, '-f', 'json=report.json'] },
  {
    what: 'a report in a folder',
    link: 'out',
    isFolder: true,
    args: [...TEST, '-f', 'json=out/r.json'],
  },
  { what: 'the history', link: '.agentci/history', isFolder: true, args: TEST },
  { what: 'a line of the history', link: '.agentci/history/runs.jsonl', args: TEST },
  { what: 'stored runs', link: '.agentci/runs', isFolder: true, args: TEST },
  {
    what: 'a baseline',
    link: 'baselines',
    isFolder: true,
    args: ['save', '--trace-file', 'traces.jsonl', '--version', 'v1'],
  },
  { what: 'the spec of init', link: 'agentci_spec.yaml', args: ['init', '--yes', '--force'] },
  {
    what: 'a policy',
    link: 'policy.yaml',
    args: ['policy', 'generate', 'traces.jsonl', '-o', 'policy.yaml', '--force'],
  },
])('$what is not written through a link', async ({ link, isFolder = false, args }) => {
  const { cwd, outside } = checkout(link, isFolder);
  const { stderr } = await cli(args, { cwd });
  expect(readdirSync(outside)).toEqual(['kept.txt']);
  expect(readFileSync(join(outside, 'kept.txt'), 'utf8')).toBe('kept\n');
  expect(stderr).toMatch(/is a link, and nothing in .* is written through links/);
});

test("a link outside of the checkout is the user's own", async () => {
  const { cwd, outside } = checkout('unused', true);
  const place = tempDir();
  symlinkSync(join(outside, 'report.json'), join(place, 'report.json'));
  writeFileSync(join(outside, 'report.json'), '');
  const report = join(place, 'report.json');
  expect((await cli([...TEST, '-f', `json=${report}`], { cwd })).code).toBe(0);
  expect(existsSync(join(outside, 'report.json'))).toBe(true);
  expect(readFileSync(join(outside, 'report.json'), 'utf8')).toContain('"agent"');
});

import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

// Ten wrong configurations that other tools accept. Each mistake would disable a check. None may
// pass validation, nor a run on a recording that would satisfy the missing check.

const head = 'version: 1\nagent: demo\n';
const query = 'queries:\n  - query: hi\n';
const recording = { query: 'hi', answer: 'hi' };

test.each([
  {
    mistake: 'checks written at the top level, beside an unknown key',
    spec: `${head}correctness: {exact_match: WILL-NEVER-MATCH}\njunk: useless\n${query}`,
  },
  {
    mistake: 'a misspelt layer',
    spec: `${head}${query}    corectness: {exact_match: WILL-NEVER-MATCH}\n`,
  },
  {
    mistake: 'checks indented under metadata',
    spec: `${head}${query}    metadata:\n      correctness: {exact_match: WILL-NEVER-MATCH}\n`,
    onlyWhenRun: true,
  },
  { mistake: 'an unknown check', spec: `${head}${query}    correctness: {containz: hi}\n` },
  {
    mistake: 'a misspelt parameter',
    spec: `${head}${query}    correctness:\n      llm_judge: [{rule: is polite, treshold: 1}]\n`,
  },
  {
    mistake: 'a trajectory check on a recording without tool calls',
    spec: `${head}${query}    path: {expected_tools: [search]}\n`,
    onlyWhenRun: true,
  },
  {
    mistake: 'bad indentation',
    spec: `${head}queries:\n  - query: hi\n     correctness: {exact_match: x}\n`,
  },
  {
    mistake: 'a regular expression that does not compile',
    spec: `${head}${query}    correctness: {regex_match: "(["}\n`,
  },
  { mistake: 'no queries', spec: head },
  {
    mistake: 'a cost limit where no cost was captured',
    spec: `${head}${query}    cost: {max_cost_usd: 0.001}\n`,
    onlyWhenRun: true,
  },
])('$mistake does not pass', async ({ spec, onlyWhenRun }) => {
  const cwd = tempDir({ 'agentci_spec.yaml': spec, 'trace.json': recording });
  if (!onlyWhenRun) expect((await cli(['validate', 'agentci_spec.yaml'], { cwd })).code).toBe(1);
  const { code, stderr } = await cli(['test', '--traces', 'trace.json'], { cwd });
  expect(code).toBe(2);
  expect(stderr).not.toMatch(/^\s+at /m);
});

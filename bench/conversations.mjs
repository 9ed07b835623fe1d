// Cost of turns: 1,000 scripted conversations of five turns compared with 5,000 single queries of
// the same canned agent.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurns, timeCommand } from './measure.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '..', 'packages', 'agentci', 'dist', 'cli.mjs');
const AGENT = 'export default (text) => ({ answer: `You said: ${text}`, tool_calls: [] });\n';
const HEAD = 'agent: canned\nrunner: {module: ./agent.mjs}\n';
const CHECK = '    correctness: {expected_in_answer: [said]}\n    path: {max_tool_calls: 0}\n';

export function measureConversations({ quick = false } = {}) {
  const count = quick ? 200 : 1000;
  const dir = join(here, 'out', 'conversations');
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'agent.mjs'), AGENT);
  const ids = (n) => Array.from({ length: n }, (_, i) => i);
  const script = '    conversation: {user: {script: [two, three, four, five]}}\n';
  writeFileSync(
    join(dir, 'talks.yaml'),
    `${HEAD}queries:\n${ids(count)
      .map((i) => `  - id: c${i}\n    query: question ${i}\n${script}${CHECK}`)
      .join('')}`,
  );
  writeFileSync(
    join(dir, 'queries.yaml'),
    `${HEAD}queries:\n${ids(count * 5)
      .map((i) => `  - id: q${i}\n    query: question ${i}\n${CHECK}`)
      .join('')}`,
  );
  const run = (spec) => {
    rmSync(join(dir, '.agentci'), { recursive: true, force: true });
    return timeCommand(process.execPath, [cli, 'test', '-c', spec, '--quiet'], {
      cwd: dir,
      exit: 0,
    });
  };
  const { talks, queries } = inTurns(quick ? 1 : 3, {
    talks: () => run('talks.yaml'),
    queries: () => run('queries.yaml'),
  });
  const ratio = talks.seconds / queries.seconds;
  return [
    {
      work: `${count} scripted conversations of 5 turns, canned agent`,
      measured: `${ratio.toFixed(2)} × (${talks.seconds.toFixed(2)} s)`,
      bound: `≤ 3 × ${count * 5} single queries`,
      ok: ratio <= 3,
    },
  ];
}

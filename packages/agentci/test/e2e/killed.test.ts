import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';

/** Starts a child in its process group and one in a new session, and prints all process ids. */
const AGENT = `
const { spawn } = require('node:child_process');
const { writeFileSync, renameSync } = require('node:fs');
const near = spawn('sleep', ['300'], { stdio: 'ignore' });
const far = spawn('sleep', ['300'], { stdio: 'ignore', detached: true });
writeFileSync('draft', [process.pid, near.pid, far.pid].join(' '));
renameSync('draft', 'pids');
setInterval(() => {}, 1000);
`;

const SPEC = (mode: string) => `agent: a
runner: {command: [node, agent.cjs], timeout_ms: 60000${mode}}
queries:
  - {id: q, query: hello, correctness: {expected_in_answer: [hi]}}
`;

async function until(what: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    if (what()) return true;
    await sleep(50);
  }
  return false;
}

/** Excludes zombies that wait for init. */
const isRunning = (pid: string): boolean =>
  /^[^Z\s]/.test(spawnSync('ps', ['-o', 'stat=', '-p', pid]).stdout.toString());

test.each([
  { what: 'an agent of one query', mode: '' },
  { what: 'an agent that stays up', mode: ', mode: serve' },
])(
  '$what does not outlive a run that was killed, nor does anything that it started',
  async ({ mode }) => {
    const cwd = tempDir({ 'agentci_spec.yaml': SPEC(mode), 'agent.cjs': AGENT });
    const run = spawn(process.execPath, [CLI, 'test'], { cwd, stdio: 'ignore' });
    expect(await until(() => existsSync(join(cwd, 'pids')))).toBe(true);
    const pids = readFileSync(join(cwd, 'pids'), 'utf8').split(' ');
    expect(pids.filter(isRunning)).toEqual(pids);
    run.kill('SIGKILL');
    // Only Linux reports the parent of a process in a new session.
    const [far] = process.platform === 'linux' ? [] : pids.splice(2);
    await until(() => !pids.some(isRunning));
    expect(pids.filter(isRunning)).toEqual([]);
    if (far !== undefined) process.kill(Number(far), 'SIGKILL');
  },
);

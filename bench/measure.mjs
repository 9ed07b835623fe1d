// Small tools to measure with. Everything is a ratio of two things timed in turns in one run, since machines are noisy.
import { spawnSync } from 'node:child_process';

/** Wall seconds and peak memory of a whole command; the exit code is checked so that a crash is not a record. */
export function timeCommand(command, args, { cwd, exit = 0, env } = {}) {
  const started = performance.now();
  const result = spawnSync('/usr/bin/time', ['-f', '%M', command, ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    env: { ...process.env, ...env },
  });
  const seconds = (performance.now() - started) / 1000;
  const lines = result.stderr.trimEnd().split('\n');
  if (result.status !== exit)
    throw new Error(
      `${command} ${args.join(' ')} exited ${result.status}, not ${exit}:\n${result.stderr}`,
    );
  return { seconds, megabytes: Math.round(Number(lines.at(-1)) / 1024) };
}

/** Runs the candidates in turns and gives the median of each. */
export function inTurns(rounds, candidates) {
  const samples = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, run] of Object.entries(candidates)) samples[name].push(run());
  return Object.fromEntries(
    Object.entries(samples).map(([name, list]) => [
      name,
      {
        seconds: median(list.map((s) => s.seconds)),
        megabytes: Math.max(...list.map((s) => s.megabytes ?? 0)),
      },
    ]),
  );
}

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

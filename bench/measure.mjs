// Measuring helpers. Results are ratios of two alternating measurements in one run, because
// machines are noisy.
import { spawnSync } from 'node:child_process';

/**
 * Wall time in seconds and peak memory of a command. Checks the exit code, so that a crash does not
 * count as fast.
 */
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

/** Runs the candidates alternately and returns the median of each. */
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

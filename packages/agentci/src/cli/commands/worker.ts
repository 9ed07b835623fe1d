import { escapeTerminalLine, plural } from '@agentci/lib/text';
import { loadSpec } from '@agentci/spec';
import { Option } from 'commander';
import { gitState } from '../../ci/git-state.ts';
import { DEFAULT_SPEC, folderOf, specPath } from '../../stored-runs/spec-folders.ts';
import type { CliCommand } from '../cli-command.ts';
import { atLeast, duration, someText, wholeNumber } from '../options.ts';

/**
 * Workers send a heartbeat every few hundred milliseconds. With a shorter lock, a busy machine
 * would lose its queries.
 */
const MIN_LOCK_MS = 1000;

export const command: CliCommand = {
  name: 'worker',
  summary: 'run queries for `agentci test --queue`',
  configure: (parser) =>
    parser
      .requiredOption(
        '--queue <redis-url>',
        'the Redis of the queue: redis://host:6379, or rediss:// for TLS',
        someText,
      )
      .option('-c, --config <file>', 'the spec (must be the tested one)', DEFAULT_SPEC)
      .option('-w, --workers <n>', 'queries to run at once', wholeNumber(1, 1000), 4)
      .option(
        '--idle <time>',
        'end after this long without work: 30s, 5m (default: never)',
        duration,
      )
      .addOption(
        new Option(
          '--lock <time>',
          'reassign the queries of a worker after this long without a sign of life',
        )
          .argParser(atLeast(duration, MIN_LOCK_MS, '1s'))
          .default(15_000, '15s'),
      )
      .addHelpText(
        'after',
        `
A worker takes queries of its spec from the queue, runs the agent, and sends back what it did. Verdicts are made by the
\`agentci test --queue\` that put them there. The password of the Redis is read from AGENTCI_QUEUE_PASSWORD.
Ctrl-C or SIGTERM: takes no more, and ends when the queries in progress are finished. A second one ends them at once.

Example:
  agentci worker --queue redis://10.0.0.5:6379 -c agentci_spec.yaml -w 8

Exit: 0 stopped normally, 2 could not start, or Redis was unavailable at the end.`,
      ),
  run: async ({ options, io }) => {
    const { queue, config, workers, idle, lock } = options as unknown as WorkerOptions;
    const file = specPath(config, io.cwd);
    const { suite } = await loadSpec(file);
    const say = (message: string): void =>
      io.stderr.write(`agentci worker: ${escapeTerminalLine(message)}\n`);
    const { serveQueue } = await import('@agentci/run/serve-queue');
    io.signal.addEventListener(
      'abort',
      () => say('taking no more queries, ends after those in progress'),
      {
        once: true,
      },
    );
    const served = await serveQueue({
      suite,
      address: queue,
      version: io.version,
      commit: gitState(folderOf(suite, io), io).commit,
      workers,
      lockMs: lock,
      idleMs: idle,
      env: io.env,
      signal: io.signal,
      onNote: say,
      onReady: () =>
        say(
          `${file} (${suite.agent}), ${plural(workers, 'query', 'queries')} at a time; waiting for work`,
        ),
    });
    const twice =
      served.duplicates === 0 ? '' : `, ${served.duplicates} of them done by others already`;
    say(`ended after ${plural(served.done + served.duplicates, 'run')}${twice}`);
    return 0;
  },
};

interface WorkerOptions {
  readonly queue: string;
  readonly config: string;
  readonly workers: number;
  readonly idle?: number;
  readonly lock: number;
}

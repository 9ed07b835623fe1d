import { type ChildProcess, spawn } from 'node:child_process';
import { CLI } from './cli.ts';

export interface Started {
  readonly child: ChildProcess;
  readonly stderr: () => string;
  readonly stdout: () => string;
  readonly ended: Promise<number | null>;
  /** Waits until its messages contain a text. */
  readonly says: (text: string) => Promise<void>;
}

/** Starts the built program and keeps it running. */
export function start(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string> },
): Started {
  const {
    CI: _,
    GITHUB_ACTIONS: __,
    GITHUB_STEP_SUMMARY: ___,
    FORCE_COLOR: ____,
    ...env
  } = process.env;
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: options.cwd,
    env: { ...env, NO_COLOR: '1', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  let stdout = '';
  const listeners = new Set<() => void>();
  child.stdout!.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    stderr += chunk;
    for (const listener of listeners) listener();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const says = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!stderr.includes(text)) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      void ended.then(() =>
        stderr.includes(text) ? resolve() : reject(new Error(`never said "${text}": ${stderr}`)),
      );
      look();
    });
  return { child, stderr: () => stderr, stdout: () => stdout, ended, says };
}

/** Starts a worker and waits until it accepts work. */
export async function startWorker(
  queue: string,
  options: {
    cwd: string;
    slots?: number;
    lock?: string;
    env?: Record<string, string>;
    spec?: string;
  },
): Promise<Started> {
  const worker = start(
    [
      'worker',
      '--queue',
      queue,
      '-w',
      String(options.slots ?? 4),
      '--lock',
      options.lock ?? '1s',
      ...(options.spec === undefined ? [] : ['-c', options.spec]),
    ],
    options,
  );
  await worker.says('waiting for work');
  return worker;
}

/** Removes times and run ids, which differ between runs. */
export function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key]) => !/^(started_at|duration_ms|run_id|latency_ms|cold_start_ms|p50|p95)$/.test(key),
      )
      .map(([key, inner]) => [key, withoutTimes(inner)]),
  );
}

import { dirname, resolve } from 'node:path';
import type { CapturePlane, RunnerConfig } from '../runners/config.ts';
import type { Watch } from '../runners/runner.ts';
import type { RunEvent } from './run-options.ts';

const AUTO: readonly CapturePlane[] = ['llm', 'otlp'];

/** A watch over the spec's agent, where its runner asks for one. Its code is loaded only then. */
export async function watchAgent(
  config: RunnerConfig,
  around: {
    readonly dir: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly onNote: (note: Extract<RunEvent, { type: 'note' }>) => void;
  },
): Promise<(Watch & { readonly close: () => Promise<void> }) | undefined> {
  if (config.capture === undefined || (config.kind !== 'command' && config.kind !== 'module')) return undefined;
  const { createCapture } = await import('../capture/capture.ts');
  const isCommand = config.kind === 'command';
  const capture = createCapture({
    planes: config.capture === 'auto' ? AUTO : config.capture,
    env: { ...around.env, ...config.env },
    cwd: isCommand ? resolve(around.dir, config.cwd ?? '.') : dirname(resolve(around.dir, config.module)),
    ...(isCommand ? { command: config.command } : {}),
  });
  for (const { code, message } of capture.notes) around.onNote({ type: 'note', code, message });
  return capture;
}

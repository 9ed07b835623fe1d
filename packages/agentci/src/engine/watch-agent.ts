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
  const onNote = ({ code, message }: { code: string; message: string }): void =>
    around.onNote({ type: 'note', code, message });
  if (config.kind === 'http' && config.spansPort !== undefined) return watchService(config.spansPort, onNote);
  if ((config.kind !== 'command' && config.kind !== 'module') || config.capture === undefined) return undefined;
  const { createCapture } = await import('../capture/capture.ts');
  const isCommand = config.kind === 'command';
  const capture = createCapture({
    planes: config.capture === 'auto' ? AUTO : config.capture,
    env: { ...around.env, ...config.env },
    cwd: isCommand ? resolve(around.dir, config.cwd ?? '.') : dirname(resolve(around.dir, config.module)),
    ...(isCommand ? { command: config.command } : {}),
    ...(config.capture !== 'auto' && config.capture.includes('mcp')
      ? { mcpConfig: config.mcpConfig ?? '.mcp.json' }
      : {}),
    onNote,
  });
  capture.notes.forEach(onNote);
  return capture;
}

/** An agent that was started elsewhere is known by the spans it sends. */
async function watchService(
  port: number,
  onNote: (note: { code: string; message: string }) => void,
): Promise<Watch & { readonly close: () => Promise<void> }> {
  const { receiveByTraceparent } = await import('../capture/otlp/by-traceparent.ts');
  const receiver = await receiveByTraceparent({ port, onNote });
  return {
    open: async () => {
      const slot = receiver.open();
      return { ...slot, env: {}, args: [], begin: () => {}, close: async () => slot.close() };
    },
    close: receiver.close,
  };
}

import { dirname, resolve } from 'node:path';
import type { CapturePlane, RunnerConfig } from '@agentci/spec';
import type { RunAbout, Watch } from '../runners/runner.ts';
import type { Cassettes } from './cassettes.ts';
import type { RunEvent } from './run-event.ts';

const AUTO: readonly CapturePlane[] = ['llm', 'otlp'];

/** Opens a capture of the spec's agent if its runner requests one. Loads the code only then. */
export async function watchAgent(
  config: RunnerConfig,
  around: {
    readonly dir: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly onNote: (note: Extract<RunEvent, { type: 'note' }>) => void;
    readonly cassettes?: Cassettes | undefined;
    /** The pending runs. Their cassettes determine the expected providers. */
    readonly runs?: readonly RunAbout[];
  },
): Promise<(Watch & { readonly close: () => Promise<void> }) | undefined> {
  const onNote = ({ code, message }: { code: string; message: string }): void =>
    around.onNote({ type: 'note', code, message });
  if (config.kind === 'http' && config.spansPort !== undefined)
    return watchService(config.spansPort, onNote);
  const { cassettes } = around;
  if (config.kind !== 'command' && config.kind !== 'module') return undefined;
  if (config.capture === undefined && cassettes === undefined) return undefined;
  const { createCapture } = await import('@agentci/capture/capture');
  const isCommand = config.kind === 'command';
  const isReplay = cassettes?.plan.mode === 'replay';
  const recorded =
    cassettes === undefined || cassettes.plan.mode === 'record'
      ? undefined
      : cassettes.providers(around.runs ?? []);
  const capture = createCapture({
    planes: planesOf(config.capture, cassettes !== undefined),
    offline: isReplay && recorded ? { providers: recorded } : undefined,
    recorded: isReplay ? undefined : recorded,
    env: { ...around.env, ...config.env },
    cwd: isCommand
      ? resolve(around.dir, config.cwd ?? '.')
      : dirname(resolve(around.dir, config.module)),
    command: isCommand ? config.command : undefined,
    stays: isCommand ? config.mode === 'serve' : undefined,
    mcpConfig:
      Array.isArray(config.capture) && config.capture.includes('mcp')
        ? (config.mcpConfig ?? '.mcp.json')
        : undefined,
    onNote,
  });
  capture.notes.forEach(onNote);
  return cassettes === undefined ? capture : cassettes.watch(capture);
}

/** A cassette contains model calls, so they are always captured. */
function planesOf(
  written: 'auto' | readonly CapturePlane[] | undefined,
  hasCassettes: boolean,
): readonly CapturePlane[] {
  if (written === undefined || written === 'auto') return AUTO;
  return hasCassettes && !written.includes('llm') ? ['llm', ...written] : written;
}

/** A separately started agent is identified by the spans it sends. */
async function watchService(
  port: number,
  onNote: (note: { code: string; message: string }) => void,
): Promise<Watch & { readonly close: () => Promise<void> }> {
  const { receiveByTraceparent } = await import('@agentci/capture/by-traceparent');
  const receiver = await receiveByTraceparent({ port, onNote });
  return {
    open: async () => {
      const slot = receiver.open();
      return { ...slot, env: {}, args: [], begin: () => {}, close: async () => slot.close() };
    },
    close: receiver.close,
  };
}

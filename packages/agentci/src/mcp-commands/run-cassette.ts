import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import { escapeTerminalLine, plural } from '@agentci/lib/text';
import {
  CassettePlayer,
  CassetteRecording,
  LEFT_OUT,
  leftOutText,
  pumpStdio,
  readTapLines,
  replayStdio,
  startServer,
} from '@agentci/mcp';
import type { Io } from '../cli/io.ts';
import { userErrorText } from '../cli/user-error-text.ts';
import { recordedCalls, writeRecording } from './cassette-file.ts';
import type { TapFlags } from './flags.ts';
import { clientStreams, parentId } from './streams.ts';

const COULD_NOT_TELL = 2;
const MISS = 'MCP_CASSETTE_MISS';
const NOT_SERVED = 'MCP_CASSETTE_UNSERVED';

/** A tap that records a server's answers, or replays them. */
export function runCassette(
  command: readonly string[],
  flags: TapFlags & { readonly cassette: string },
  io: Io,
): Promise<number> {
  const [, mode, file = ''] = /^(record|replay)=(.+)$/s.exec(flags.cassette) ?? [];
  if (mode === undefined)
    throw new UserError(
      'OPTION_INVALID',
      `"${flags.cassette}" does not say what to do with which file`,
      {
        hint: 'write --cassette record=FILE or --cassette replay=FILE',
      },
    );
  const path = resolve(io.cwd, file);
  return mode === 'replay' ? replay(path, flags, io) : record(command, path, { flags, io });
}

async function record(
  command: readonly string[],
  path: string,
  { flags, io }: { readonly flags: TapFlags; readonly io: Io },
): Promise<number> {
  // Fails now if the recording could not be written later.
  recordedCalls(path);
  const recording = new CassetteRecording(io.now);
  const say = sayOf(io);
  let code: number;
  if (flags.url !== undefined) {
    const { serveTap } = await import('./serve-tap.ts');
    const log = { add: recording.add.bind(recording), drop: () => recording.missed() };
    code = await serveTap(log, flags.url, { flags, io, say });
  } else {
    if (command.length === 0)
      throw new UserError('OPTION_INVALID', 'no server was given', {
        hint: 'agentci tap --cassette record=FILE -- node server.mjs',
      });
    const server = await startServer(command, { env: io.env, cwd: io.cwd });
    code = await pumpStdio({
      client: clientStreams(),
      server,
      middle: { watch: (dir, line) => recording.add(dir, line), missed: () => recording.missed() },
      signal: io.signal,
      parent: parentId,
    });
  }
  let leftOut: string | undefined;
  try {
    const finished = recording.finished();
    writeRecording(path, finished);
    leftOut = leftOutText(finished.leftOut, 'record');
  } catch (error) {
    // If the server failed, its exit code is more informative.
    if (!(error instanceof UserError) || code === 0) throw error;
    io.stderr.write(userErrorText(error, io.env));
    return code;
  }
  say(`recorded to ${path}`);
  if (leftOut !== undefined) say(`${leftOut} (${LEFT_OUT})`);
  return code;
}

async function replay(path: string, flags: TapFlags, io: Io): Promise<number> {
  const lines = readTapLines(path);
  if (lines.length === 0)
    throw new UserError(
      'CASSETTE_EMPTY',
      `the cassette "${path}" is empty, so nothing can be answered from it`,
      {
        hint: 'record it again: agentci tap --cassette record=FILE -- SERVER',
      },
    );
  const player = new CassettePlayer(lines);
  const clean = (value: unknown): unknown => SECRETS.value(value);
  const say = sayOf(io);
  if (flags.listen !== undefined) {
    const { serveReplay } = await import('./serve-replay.ts');
    await serveReplay(player, clean, { listen: flags.listen, io, say });
  } else
    await replayStdio(() => player, clean, {
      ...clientStreams(),
      signal: io.signal,
      parent: parentId,
    });
  for (const { message } of player.misses.slice(0, 10)) say(`${message} (${MISS})`);
  say(
    `${plural(player.served, 'call')} answered from the cassette, ${player.misses.length} missed, ${player.unused} recorded and not asked for`,
  );
  const leftOut = leftOutText(player.leftOut, 'replay');
  if (leftOut !== undefined) say(`${leftOut} (${LEFT_OUT})`);
  if (player.misses.length > 0) return COULD_NOT_TELL;
  // A recording without calls can only serve the server's description.
  if (player.served > 0 || (player.calls === 0 && player.answered > 0)) return 0;
  say(
    `nothing was replayed: the client made none of the recorded calls, so this session proves nothing about the recording (${NOT_SERVED})`,
  );
  return COULD_NOT_TELL;
}

const sayOf =
  (io: Io) =>
  (text: string): void =>
    io.stderr.write(`agentci tap: ${escapeTerminalLine(text)}\n`);

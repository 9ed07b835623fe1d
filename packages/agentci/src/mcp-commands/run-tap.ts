import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine, plural } from '@agentci/lib/text';
import { openTapFile, pumpStdio, startServer, type TapLine, TapLog } from '@agentci/mcp';
import type { Io } from '../cli/io.ts';
import type { TapFlags } from './flags.ts';
import { cleanName, serverName } from './server-name.ts';
import { clientStreams, parentId } from './streams.ts';

const NOT_WRITTEN = 2;
const DROPPED = 'MCP_DROPPED';
const UNWRITTEN = 'MCP_NOT_WRITTEN';

/** Forwards all bytes between a client and a server, and logs the messages. */
export async function runTap(command: readonly string[], flags: TapFlags, io: Io): Promise<number> {
  if (flags.url !== undefined && command.length > 0)
    throw new UserError('OPTION_INVALID', 'both --url and a server to start were given', {
      hint: 'leave one of them out',
    });
  if (flags.cassette !== undefined) {
    if (flags.out !== undefined)
      throw new UserError('OPTIONS_CONFLICT', '--out and --cassette both say where to write', {
        hint: '--cassette record=FILE names the file of the recording, and replay=FILE writes none; leave --out out',
      });
    const { runCassette } = await import('./run-cassette.ts');
    return runCassette(command, { ...flags, cassette: flags.cassette }, io);
  }
  if (flags.url === undefined && command.length === 0)
    throw new UserError('OPTION_INVALID', 'no server was given', {
      hint: 'agentci tap -- node server.mjs, or --url https://host/mcp',
    });
  const name = cleanName(flags.server ?? serverName(command, flags.url));
  const out =
    flags.play === undefined ? flags.out : flags.out?.replace('{pid}', String(process.pid));
  const file = openTapFile(
    resolve(io.cwd, out ?? join('.agentci', 'captures', `mcp-${name}.jsonl`)),
  );
  const { log, failure } = safeLog(file.write, io, flags.unmasked === true);
  const say = (text: string): void => io.stderr.write(`agentci tap: ${escapeTerminalLine(text)}\n`);
  let code: number;
  if (flags.play !== undefined && existsSync(flags.play)) {
    const { playFile } = await import('./play-file.ts');
    await playFile(flags.play, { log, signal: io.signal });
    code = 0;
  } else if (flags.url !== undefined) {
    const { serveTap } = await import('./serve-tap.ts');
    code = await serveTap(log, flags.url, { flags, io, say });
  } else {
    const server = await startServer(command, { env: io.env, cwd: io.cwd });
    code = await pumpStdio({
      client: clientStreams(),
      server,
      middle: {
        watch: (dir, line) => log.add(dir, line),
        missed: (dir, bytes) => log.drop(dir, bytes, 'too_large'),
      },
      signal: io.signal,
      parent: parentId,
    });
  }
  file.close();
  say(`${plural(log.messages, 'message')}, ${plural(log.calls, 'call')} in ${file.path}`);
  if (log.dropped > 0) say(`${plural(log.dropped, 'message')} could not be kept (${DROPPED})`);
  if (failure() === undefined) return code;
  say(`${file.path} could not be written: ${failure()} (${UNWRITTEN})`);
  return code === 0 ? NOT_WRITTEN : code;
}

/** A failing log must not stop the session. The error is reported at the end. */
function safeLog(
  write: (line: TapLine) => void,
  io: Io,
  keepsCredentials: boolean,
): { log: TapLog; failure: () => string | undefined } {
  let failed: string | undefined;
  const safely = (line: TapLine): void => {
    try {
      write(line);
    } catch (error) {
      failed ??= (error as Error).message;
    }
  };
  const log = new TapLog(safely, io.now, { keepsCredentials });
  return { log, failure: () => failed };
}

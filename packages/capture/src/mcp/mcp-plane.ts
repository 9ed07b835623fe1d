import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renameFile, writeFile } from '@agentci/lib/files';
import { rememberKeys, SECRETS } from '@agentci/lib/secrets';
import {
  CassettePlayer,
  ReplayStream,
  readServerUrl,
  readTapLines,
  relay,
  replayHttp,
  type TapLine,
  TapLog,
  type TapSession,
  tapHttp,
} from '@agentci/mcp';
import type { Plane, PlaneContext } from '../plane.ts';
import { refuse } from '../refuse.ts';
import { readMcpConfig, withTaps } from './config-copy.ts';

/** The built program, beside which this file is when it is built. */
const PROGRAM = fileURLToPath(new URL('./cli.mjs', import.meta.url));

export interface McpPlane extends Plane {
  /** An argument of the agent, with the user's configuration replaced by ours. */
  readonly rewrite: (argument: string) => string;
  /** For programs that take a configuration on the command line. */
  readonly args: (program: string) => readonly string[];
}

/** Sees the tools of MCP servers: the agent is given a copy of its configuration in which every server is behind a tap. */
export function openMcpPlane(
  context: PlaneContext,
  {
    config: path,
    cwd,
    command,
    linesFor,
  }: {
    readonly config: string;
    readonly cwd: string;
    readonly command: readonly string[];
    /** What a server is to answer from in the query that begins; undefined where it answers for itself. */
    readonly linesFor?: ((server: string) => string | undefined) | undefined;
  },
): McpPlane {
  const original = resolve(cwd, path);
  const config = readMcpConfig(original);
  // Without a front there is nothing to serve, and nothing is written.
  const folder = context.token === '' ? undefined : mkdtempSync(join(tmpdir(), 'agentci-mcp-'));
  const copy = folder === undefined ? '' : join(folder, 'mcp.json');
  const logs = new Map<string, TapLine[]>();
  const isPassed =
    command.slice(1).some((argument) => rewrite(argument) !== argument) ||
    takesFlag(command[0] ?? '');
  /** Each tap puts the number of its process in place of the word. */
  const fileOf = (name: string): string => `${encodeURIComponent(name)}-{pid}.jsonl`;
  const playOf = (name: string): string => `${encodeURIComponent(name)}.play`;
  /** Of servers with an address, which are answered here. */
  const players = new Map<string, CassettePlayer>();
  /** Of those, what a client listens on, which may stay for several queries. */
  const streams = new Map<string, ReplayStream>();
  if (folder !== undefined) {
    const tapped = withTaps(config, {
      command: (name) => [
        process.execPath,
        PROGRAM,
        'tap',
        '--unmasked',
        '--server',
        name,
        '--out',
        join(folder, fileOf(name)),
        '--play',
        join(folder, playOf(name)),
      ],
      url: (name) => `${context.base}/mcp/${encodeURIComponent(name)}`,
    });
    writeFile(copy, JSON.stringify(tapped, null, 2), { mode: 0o600 });
  }

  function rewrite(argument: string): string {
    const [, flag = '', value = argument] = /^(--?[\w-]+=)(.*)$/s.exec(argument) ?? [];
    return value !== '' && !value.includes('\0') && resolve(cwd, value) === original
      ? `${flag}${copy}`
      : argument;
  }

  const newStream = (name: string): ReplayStream => {
    const stream = new ReplayStream();
    streams.set(name, stream);
    return stream;
  };

  /** Of the files that taps wrote, and of what came through the front. */
  const sessions = (): TapSession[] => {
    const files =
      folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
    const written = files.map((name) => ({
      server: decodeURIComponent(basename(name, '.jsonl').replace(/-\d+(?:-\d+)?$/, '')),
      lines: readFileSync(join(folder!, name), 'utf8').split('\n').flatMap(lineOf),
    }));
    return [...written, ...[...logs].map(([server, lines]) => ({ server, lines }))].filter(
      ({ lines }) => lines.length > 0,
    );
  };
  const clear = (): void => {
    logs.clear();
    for (const name of folder === undefined ? [] : readdirSync(folder)) {
      if (!name.endsWith('.jsonl')) continue;
      // A tap of an agent that stays writes on, in the file it has open.
      if (isRunning(Number(/-(\d+)(?:-\d+)?\.jsonl$/.exec(name)?.[1])))
        truncateSync(join(folder!, name));
      else rmSync(join(folder!, name), { force: true });
    }
  };

  return {
    name: 'mcp',
    rewrite,
    args: (program) => (takesFlag(program) ? ['--mcp-config', copy, '--strict-mcp-config'] : []),
    environment: () => ({
      set: { AGENTCI_MCP_CONFIG: copy },
      notes: isPassed
        ? []
        : [
            {
              code: 'CAPTURE_MCP_NOT_PASSED',
              message: `the agent is not known to take an MCP configuration: have it read the file that AGENTCI_MCP_CONFIG names in place of ${path}`,
            },
          ],
    }),
    handle: ({ path: below, request, response }) => {
      const name = decodeURIComponent(below.replace(/^\//, '').replace(/[/?].*$/s, ''));
      const url = Object.hasOwn(config.servers, name) ? config.servers[name]!.url : undefined;
      if (typeof url !== 'string') {
        refuse(response, 404, `there is no MCP server "${name.slice(0, 80)}" with an address`);
        return;
      }
      const lines = logs.get(name) ?? [];
      logs.set(name, lines);
      rememberKeys(request);
      const log = new TapLog((line) => lines.push(line), context.now, { keepsCredentials: true });
      const player = players.get(name);
      if (player === undefined)
        relay(request as IncomingMessage, response as ServerResponse, {
          upstream: readServerUrl(url),
          middle: tapHttp(log),
        });
      else
        replayHttp(request as IncomingMessage, response as ServerResponse, {
          player,
          stream: streams.get(name) ?? newStream(name),
          clean: (value) => SECRETS.value(value),
          log,
        });
    },
    begin: () => {
      clear();
      players.clear();
      for (const stream of streams.values()) stream.forget();
      for (const name of folder === undefined ? [] : Object.keys(config.servers)) {
        const text = linesFor?.(name);
        const path = join(folder!, playOf(name));
        if (text === undefined) {
          rmSync(path, { force: true });
          continue;
        }
        // A new file each time: a tap that stays sees by it that the next query has begun.
        writeFile(`${path}.new`, text, { mode: 0o600 });
        renameFile(`${path}.new`, path);
        players.set(name, new CassettePlayer(readTapLines(path)));
      }
    },
    end: async () => ({ mcp: sessions() }),
    report: () => {
      const all = sessions();
      return {
        servers: all.map(({ server }) => server),
        messages: all.reduce((sum, { lines }) => sum + lines.length, 0),
      };
    },
    close: async () => {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const takesFlag = (program: string): boolean => /^claude(?:\.exe|\.cmd)?$/i.test(basename(program));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The last line of a tap that is still running may not be whole. */
function lineOf(text: string): TapLine[] {
  if (text === '') return [];
  try {
    return [JSON.parse(text) as TapLine];
  } catch {
    return [];
  }
}

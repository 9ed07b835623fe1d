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
import type { Plane, PlaneContext, PlaneRequest } from '../plane.ts';
import { refuse } from '../refuse.ts';
import { readMcpConfig, withTaps } from './config-copy.ts';

/** The built program, next to which this file is in the build. */
const PROGRAM = fileURLToPath(new URL('./cli.mjs', import.meta.url));

export interface McpPlane extends Plane {
  /** Replaces the user's configuration in an argument of the agent. */
  readonly rewrite: (argument: string) => string;
  /** For programs that take a configuration on the command line. */
  readonly args: (program: string) => readonly string[];
}

interface McpOptions {
  readonly config: string;
  readonly cwd: string;
  readonly command: readonly string[];
  /** The recorded replies of a server for the next query. Undefined if the server runs live. */
  readonly linesFor?: ((server: string) => string | undefined) | undefined;
}

/**
 * Captures the tools of MCP servers: the agent gets a copy of its configuration in which every
 * server is wrapped in a tap.
 */
export const openMcpPlane = (context: PlaneContext, options: McpOptions): McpPlane =>
  new TappedServers(context, options);

class TappedServers implements McpPlane {
  readonly name = 'mcp';
  readonly #context: PlaneContext;
  /** The configuration path as the user wrote it. */
  readonly #path: string;
  readonly #cwd: string;
  readonly #linesFor: McpOptions['linesFor'];
  readonly #original: string;
  readonly #config: ReturnType<typeof readMcpConfig>;
  /** Undefined without a front. Then nothing is served or written. */
  readonly #folder: string | undefined;
  readonly #copy: string;
  readonly #isPassed: boolean;
  readonly #logs = new Map<string, TapLine[]>();
  /** For remote servers, which are answered here. */
  readonly #players = new Map<string, CassettePlayer>();
  /** Their event streams, which a client may keep for several queries. */
  readonly #streams = new Map<string, ReplayStream>();

  constructor(context: PlaneContext, { config: path, cwd, command, linesFor }: McpOptions) {
    this.#context = context;
    this.#path = path;
    this.#cwd = cwd;
    this.#linesFor = linesFor;
    this.#original = resolve(cwd, path);
    this.#config = readMcpConfig(this.#original);
    this.#folder = context.token === '' ? undefined : mkdtempSync(join(tmpdir(), 'agentci-mcp-'));
    this.#copy = this.#folder === undefined ? '' : join(this.#folder, 'mcp.json');
    this.#isPassed =
      command.slice(1).some((argument) => this.rewrite(argument) !== argument) ||
      takesFlag(command[0] ?? '');
    if (this.#folder !== undefined) this.#writeCopy(this.#folder);
  }

  #writeCopy(folder: string): void {
    const tapped = withTaps(this.#config, {
      command: (name) => [
        process.execPath,
        PROGRAM,
        'tap',
        '--unmasked',
        '--server',
        name,
        '--out',
        // Each tap replaces the word by its process id.
        join(folder, `${encodeURIComponent(name)}-{pid}.jsonl`),
        '--play',
        join(folder, playOf(name)),
      ],
      url: (name) => `${this.#context.base}/mcp/${encodeURIComponent(name)}`,
    });
    writeFile(this.#copy, JSON.stringify(tapped, null, 2), { mode: 0o600 });
  }

  rewrite = (argument: string): string => {
    const [, flag = '', value = argument] = /^(--?[\w-]+=)(.*)$/s.exec(argument) ?? [];
    return value !== '' && !value.includes('\0') && resolve(this.#cwd, value) === this.#original
      ? `${flag}${this.#copy}`
      : argument;
  };

  args = (program: string): readonly string[] =>
    takesFlag(program) ? ['--mcp-config', this.#copy, '--strict-mcp-config'] : [];

  environment = (): ReturnType<Plane['environment']> => ({
    set: { AGENTCI_MCP_CONFIG: this.#copy },
    notes: this.#isPassed
      ? []
      : [
          {
            code: 'CAPTURE_MCP_NOT_PASSED',
            message: `the agent is not known to take an MCP configuration: have it read the file that AGENTCI_MCP_CONFIG names in place of ${this.#path}`,
          },
        ],
  });

  handle = ({ path: below, request, response }: PlaneRequest): void => {
    const name = decodeURIComponent(below.replace(/^\//, '').replace(/[/?].*$/s, ''));
    const url = Object.hasOwn(this.#config.servers, name)
      ? this.#config.servers[name]!.url
      : undefined;
    if (typeof url !== 'string') {
      refuse(response, 404, `no MCP server "${name.slice(0, 80)}" with an address is configured`);
      return;
    }
    const lines = this.#logs.get(name) ?? [];
    this.#logs.set(name, lines);
    rememberKeys(request);
    const log = new TapLog((line) => lines.push(line), this.#context.now, {
      keepsCredentials: true,
    });
    const player = this.#players.get(name);
    if (player === undefined)
      relay(request as IncomingMessage, response as ServerResponse, {
        upstream: readServerUrl(url),
        middle: tapHttp(log),
      });
    else
      replayHttp(request as IncomingMessage, response as ServerResponse, {
        player,
        stream: this.#streams.get(name) ?? this.#newStream(name),
        clean: (value) => SECRETS.value(value),
        log,
      });
  };

  begin = (): void => {
    this.#clear();
    this.#players.clear();
    for (const stream of this.#streams.values()) stream.forget();
    for (const name of this.#folder === undefined ? [] : Object.keys(this.#config.servers)) {
      const text = this.#linesFor?.(name);
      const path = join(this.#folder!, playOf(name));
      if (text === undefined) {
        rmSync(path, { force: true });
        continue;
      }
      // A new file each time, by which a persistent tap detects the next query.
      writeFile(`${path}.new`, text, { mode: 0o600 });
      renameFile(`${path}.new`, path);
      this.#players.set(name, new CassettePlayer(readTapLines(path)));
    }
  };

  end = async () => ({ mcp: this.#sessions() });

  report = () => {
    const all = this.#sessions();
    return {
      servers: all.map(({ server }) => server),
      messages: all.reduce((sum, { lines }) => sum + lines.length, 0),
    };
  };

  close = async (): Promise<void> => {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  };

  #newStream(name: string): ReplayStream {
    const stream = new ReplayStream();
    this.#streams.set(name, stream);
    return stream;
  }

  /** Sessions from the files of taps, and from traffic through the front. */
  #sessions(): TapSession[] {
    const files =
      this.#folder === undefined
        ? []
        : readdirSync(this.#folder).filter((name) => name.endsWith('.jsonl'));
    const written = files.map((name) => ({
      server: decodeURIComponent(basename(name, '.jsonl').replace(/-\d+(?:-\d+)?$/, '')),
      lines: readFileSync(join(this.#folder!, name), 'utf8').split('\n').flatMap(lineOf),
    }));
    return [...written, ...[...this.#logs].map(([server, lines]) => ({ server, lines }))].filter(
      ({ lines }) => lines.length > 0,
    );
  }

  #clear(): void {
    this.#logs.clear();
    for (const name of this.#folder === undefined ? [] : readdirSync(this.#folder)) {
      if (!name.endsWith('.jsonl')) continue;
      // A tap of a persistent agent continues in the file it has open.
      if (isRunning(Number(/-(\d+)(?:-\d+)?\.jsonl$/.exec(name)?.[1])))
        truncateSync(join(this.#folder!, name));
      else rmSync(join(this.#folder!, name), { force: true });
    }
  }
}

const playOf = (name: string): string => `${encodeURIComponent(name)}.play`;

const takesFlag = (program: string): boolean => /^claude(?:\.exe|\.cmd)?$/i.test(basename(program));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The last line of a running tap may be incomplete. */
function lineOf(text: string): TapLine[] {
  if (text === '') return [];
  try {
    return [JSON.parse(text) as TapLine];
  } catch {
    return [];
  }
}

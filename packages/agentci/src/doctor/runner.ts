import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { KEY_VARIABLES, parseModelName, showModel } from '@agentci/judge';
import { UserError } from '@agentci/lib/problems';
import { findProgram } from '@agentci/lib/process';
import { andMore, plural } from '@agentci/lib/text';
import { caseKey, caseText, checksOf } from '@agentci/results';
import { evaluateRecorded, readTracesOfQueries, reasonIn } from '@agentci/run';
import type { HttpRunnerConfig, RunnerConfig, Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import type { Io } from '../cli/io.ts';
import type { Finding } from './finding.ts';

const CONNECT_MS = 2000;
const MAX_NAMED = 5;
const what = 'runner';
const ok = (detail: string): Finding => ({ what, status: 'ok', detail });
const fail = (detail: string, fix: string): Finding => ({ what, status: 'fail', detail, fix });

/** Checks that the agent is reachable, or its recordings readable, without running it. */
export async function runnerFinding(
  suite: Suite,
  io: Io,
  traces: string | undefined,
): Promise<Finding> {
  const { runner, dir } = suite;
  if (traces !== undefined) return recordingsFinding(suite, resolve(io.cwd, traces), traces);
  switch (runner?.kind) {
    case undefined:
      return fail(
        'none in the spec, and no recordings were given',
        'Add a runner to the spec, or pass --traces FILE.',
      );
    case 'module': {
      const path = resolve(dir, runner.module);
      if (statSync(path, { throwIfNoEntry: false })?.isFile())
        return moduleFinding(path, runner.module);
      return fail(
        `module ${runner.module} ${existsSync(path) ? 'is not a file' : 'does not exist'}`,
        'The path is relative to the spec.',
      );
    }
    case 'replay':
      return recordingsFinding(suite, resolve(dir, runner.replay), runner.replay);
    case 'command':
      return commandFinding(runner, dir, io);
    case 'http':
      // The run starts this server, so it is not up yet.
      return runner.http.start === undefined
        ? urlFinding(runner.http, io)
        : commandFinding(
            { ...runner, kind: 'command', command: runner.http.start.command },
            dir,
            io,
          );
    case 'model':
      return modelFinding(runner, io);
    default:
      throw new Error(`unhandled runner: ${JSON.stringify(runner satisfies never)}`);
  }
}

/** Checks for a key. Calls no model. */
function modelFinding(runner: Extract<RunnerConfig, { kind: 'model' }>, io: Io): Finding {
  const name = parseModelName(runner.model, { hasBaseUrl: runner.baseUrl !== undefined });
  if (name === undefined) return ok(`model ${runner.model}`);
  const names = runner.apiKeyEnv === undefined ? KEY_VARIABLES[name.provider] : [runner.apiKeyEnv];
  const env = { ...io.env, ...runner.env };
  if (names.length === 0 || names.some((each) => env[each]?.trim()))
    return ok(`model ${showModel(name)}`);
  return fail(
    `model ${showModel(name)}: ${names.join(' or ')} is not set`,
    'Set it, or name another with api_key_env.',
  );
}

/** A module is parsed, never loaded, because its top-level code must not run here. */
function moduleFinding(path: string, name: string): Finding {
  const source = readFileSync(path, 'utf8');
  const way = 'Export a function: export default async (query) => answer';
  if (!/\bexports?\b/.test(source)) return fail(`module ${name} exports nothing`, way);
  if (
    !/\bexport\s+default\b|\bas\s+default\b|\bexport\s*\*|\b(?:module\.)?exports\b\s*[.=[]/.test(
      source,
    )
  )
    return fail(`module ${name} has no default export`, way);
  if (/\bexport\s+default\s+(?:[\d'"`[]|true\b|false\b|null\b)/.test(source))
    return fail(`the default export of module ${name} is not a function`, way);
  // Node can only parse JavaScript. TypeScript is checked by the run.
  if (!/\.[cm]?js$/.test(path)) return ok(`module ${name}`);
  const { status, stderr } = spawnSync(process.execPath, ['--check', path], {
    encoding: 'utf8',
    timeout: CONNECT_MS * 5,
  });
  if (status === 0 || status === null) return ok(`module ${name}`);
  return fail(
    `module ${name} does not parse${reasonIn(stderr)}`,
    'Correct it. node --check shows the location.',
  );
}

/** Reads and matches recordings. A query without one would be an error in the run. */
async function recordingsFinding(suite: Suite, path: string, name: string): Promise<Finding> {
  if (!existsSync(path))
    return fail(`recordings ${name} does not exist`, 'Record some, or name another path.');
  // An Assay suite needs all traces together.
  if (suite.queries.some(({ test }) => test !== undefined)) return ok(`recordings ${name}`);
  try {
    const { byQuery } = await readTracesOfQueries(path, suite);
    const missing = suite.queries.filter((query) => !byQuery.has(caseKey(query))).map(caseText);
    if (missing.length === 0) return await verdictFinding(suite, byQuery, name);
    return fail(
      `recordings ${name}: none for ${plural(missing.length, 'query', 'queries')} (${andMore(missing, MAX_NAMED)})`,
      'A recording belongs to a query by its id, or by its exact text.',
    );
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return fail(
      `recordings ${name}: ${error.message}`,
      error.hint ?? 'Record them again, or name another path.',
    );
  }
}

/**
 * Judges recordings right away. A failing recording is a verdict. Only recordings that cannot be
 * judged are problems.
 */
async function verdictFinding(
  suite: Suite,
  byQuery: ReadonlyMap<string, readonly Trace[]>,
  name: string,
): Promise<Finding> {
  const recorded = [...byQuery].flatMap(([queryId, [trace]]) =>
    trace === undefined ? [] : [{ queryId, trace }],
  );
  const results = await evaluateRecorded(recorded, { suite });
  const open = [...results.values()].filter(({ status }) => status === 'error');
  const [first] = open;
  if (first === undefined) return ok(`recordings ${name}, one for every query`);
  const why =
    first.error?.message ??
    checksOf(first).find(({ status }) => status === 'error')?.message ??
    'no verdict';
  return fail(
    `recordings ${name}: could not tell for ${plural(open.length, 'query', 'queries')} (${first.id}: ${why})`,
    'Record what the check needs, or leave the check out.',
  );
}

function commandFinding(
  runner: Extract<RunnerConfig, { kind: 'command' }>,
  dir: string,
  io: Io,
): Finding {
  const [program = '', ...args] = runner.command;
  const cwd = resolve(dir, runner.cwd ?? '.');
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    return fail(
      `no folder "${runner.cwd}" to run ${program} in`,
      'runner.cwd is relative to the spec.',
    );
  if (findProgram(program, { cwd, env: { ...io.env, ...runner.env } }) === undefined)
    return fail(
      `command ${program} was not found`,
      'Install it, or write its path in runner.command.',
    );
  const script = scriptOf([program, ...args]);
  if (script !== undefined && !existsSync(resolve(cwd, script)))
    return fail(
      `command ${program}: no file "${script}"`,
      `It is looked for in ${runner.cwd ?? 'the folder of the spec'}.`,
    );
  return (
    pythonFinding(runner.command, { cwd, env: { ...io.env, ...runner.env } }) ??
    ok(`command ${runner.command.join(' ')}`)
  );
}

const PYTHON = /^(?:.*[\\/])?python[\d.]*(?:\.exe)?$/;
/** Compiles a file, or finds a module, without running either. */
const LOOK = `import ast, importlib.util, os, sys
kind, name = sys.argv[1:3]
sys.path.insert(0, os.getcwd())
if kind == 'module':
    sys.exit(0 if importlib.util.find_spec(name.split('.')[0]) else 'there is no module named ' + repr(name))
path = os.path.join(name, '__main__.py') if os.path.isdir(name) else name
if not os.path.exists(path): sys.exit('no file ' + repr(path))
try: ast.parse(open(path, 'rb').read(), path)
except SyntaxError as error: sys.exit('%s:%s: %s' % (path, error.lineno, error.msg))
`;

/** Asks Python about the program, as far as possible without running it. */
function pythonFinding(
  words: readonly string[],
  place: { cwd: string; env: NodeJS.ProcessEnv },
): Finding | undefined {
  const [program = '', ...rest] = words;
  const [first, second] = rest.filter((word) => !/^-[BEIOPRSUVbdiqsuvx]+$/.test(word));
  if (!PYTHON.test(program) || first === undefined || (first.startsWith('-') && first !== '-m'))
    return undefined;
  const [kind, name] = first === '-m' ? ['module', second] : ['file', first];
  if (name === undefined) return undefined;
  const { status, stderr } = spawnSync(program, ['-c', LOOK, kind!, name], {
    ...place,
    encoding: 'utf8',
    timeout: CONNECT_MS * 5,
  });
  if (status === 0 || status === null) return undefined;
  const why = stderr.trim().split('\n').at(-1) ?? '';
  return fail(
    `command ${words.join(' ')}: ${why}`,
    'Correct it, or name another program in runner.command.',
  );
}

const INTERPRETER =
  /^(?:.*[\\/])?(?:python[\d.]*|node|deno|bun|tsx|ts-node|ruby|php|perl|bash|sh|zsh)(?:\.exe)?$/;
const SCRIPT = /^[^\s-][^\s]*\.(?:py|[cm]?[jt]sx?|rb|php|pl|sh)$/;

/**
 * The script file of an interpreter. Code on the command line (`-c`, `-e`) and modules (`-m`) are
 * not files.
 */
function scriptOf(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => INTERPRETER.test(word));
  if (at < 0) return undefined;
  const rest = words.slice(at + 1);
  const first = rest.findIndex((word) => SCRIPT.test(word));
  if (first < 0 || rest.slice(0, first).some((word) => /^-(?:[cemp]|-eval|-print)$/.test(word)))
    return undefined;
  return rest[first];
}

/** Opens and closes a connection without sending anything. */
async function urlFinding({ url: template, headers }: HttpRunnerConfig, io: Io): Promise<Finding> {
  const unset = [...JSON.stringify({ template, headers }).matchAll(/\$\{(\w+)\}/g)]
    .map(([, name]) => name!)
    .filter((name) => !io.env[name]);
  if (unset.length > 0)
    return fail(
      `${template} needs the environment variable ${unset[0]}, which is not set`,
      `Set ${unset.join(', ')}.`,
    );
  let url: URL;
  try {
    url = new URL(template.replace(/\$\{(\w+)\}/g, (_, name: string) => io.env[name] ?? ''));
  } catch {
    return fail(`${template} is not a URL`, 'Write it as http://host:port/path.');
  }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const isReachable = await new Promise<boolean>((done) => {
    const socket = connect({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port,
      timeout: CONNECT_MS,
    });
    const end = (answer: boolean) => {
      socket.destroy();
      done(answer);
    };
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false));
  });
  const detail = `${url.protocol}//${url.host}`;
  return isReachable
    ? ok(`${detail} answers`)
    : fail(`${detail} does not answer`, 'Start the agent, or correct runner.http.url.');
}

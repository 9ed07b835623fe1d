import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, dirname, join, resolve } from 'node:path';
import { UserError } from '../../kit/user-error.ts';
import { loadSpec } from '../../spec/load.ts';
import type { Suite } from '../../spec/suite.ts';
import { listBaselineFiles, usableBaselines } from '../../store/baseline-files.ts';
import { listRuns } from '../../store/run-store.ts';
import type { Io } from '../io.ts';
import { folderOf, judgeCacheOf, runsRoot } from '../spec-folders.ts';

/** One thing that was looked at. `fix` says what to do about it. */
export interface Finding {
  readonly what: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix?: string;
}

const OLDEST_NODE = [20, 19] as const;
const KEYS = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'];
const CONNECT_MS = 2000;

/** Looks at everything a run needs, without running anything. Keys are named, never shown. */
export async function examine(spec: string, io: Io, nodeVersion: string): Promise<Finding[]> {
  const findings = [nodeFinding(nodeVersion)];
  const suite = await specFinding(spec, findings);
  if (suite) {
    findings.push(await runnerFinding(suite, io), ...judgeFindings(suite, io), baselineFinding(suite, io));
  }
  findings.push(storeFinding(spec, io));
  return findings;
}

function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOk = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (isOk) return { what: 'node', status: 'ok', detail: version };
  return { what: 'node', status: 'fail', detail: version, fix: `Install Node ${OLDEST_NODE.join('.')} or newer.` };
}

async function specFinding(file: string, findings: Finding[]): Promise<Suite | undefined> {
  try {
    const { suite, diagnostics } = await loadSpec(file);
    const detail = `${file}: ${suite.queries.length} queries, ${diagnostics.length} warnings`;
    findings.push(
      diagnostics.length === 0
        ? { what: 'spec', status: 'ok', detail }
        : { what: 'spec', status: 'warn', detail, fix: `agentci validate ${file} lists them.` },
    );
    return suite;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const [detail = ''] = error.message.split('\n', 1);
    const fix =
      error.diagnostics.length > 0
        ? `agentci validate ${file} shows every mistake.`
        : (error.hint ?? 'Name the spec with -c.');
    findings.push({ what: 'spec', status: 'fail', detail, fix });
    return undefined;
  }
}

async function runnerFinding({ runner, dir }: Suite, io: Io): Promise<Finding> {
  const what = 'runner';
  switch (runner?.kind) {
    case undefined:
      return {
        what,
        status: 'warn',
        detail: 'none in the spec',
        fix: 'Give recordings with --traces, or add a runner to the spec.',
      };
    case 'module':
      return fileFinding(
        what,
        resolve(dir, runner.module),
        `module ${runner.module}`,
        'The path is relative to the spec.',
      );
    case 'replay':
      return fileFinding(
        what,
        resolve(dir, runner.replay),
        `recordings ${runner.replay}`,
        'Record some, or name another path.',
      );
    case 'command': {
      const [program = ''] = runner.command;
      if (isProgram(program, resolve(dir, runner.cwd ?? '.'), io))
        return { what, status: 'ok', detail: `command ${program}` };
      return {
        what,
        status: 'fail',
        detail: `command ${program} was not found`,
        fix: 'Install it, or write its path in runner.command.',
      };
    }
    case 'http':
      return urlFinding(what, runner.http.url, io);
    default:
      throw new Error(`unhandled runner: ${JSON.stringify(runner satisfies never)}`);
  }
}

function fileFinding(what: string, path: string, detail: string, fix: string): Finding {
  return existsSync(path)
    ? { what, status: 'ok', detail }
    : { what, status: 'fail', detail: `${detail} does not exist`, fix };
}

function isProgram(program: string, cwd: string, io: Io): boolean {
  if (/[\\/]/.test(program)) return existsSync(resolve(cwd, program));
  const endings = (io.env.PATHEXT ?? '').split(';');
  return (io.env.PATH ?? '')
    .split(delimiter)
    .some((dir) => endings.some((ending) => existsSync(join(dir, `${program}${ending}`))));
}

/** Opens a connection and closes it again; nothing is sent. */
async function urlFinding(what: string, template: string, io: Io): Promise<Finding> {
  let url: URL;
  try {
    url = new URL(template.replace(/\$\{(\w+)\}/g, (_, name: string) => io.env[name] ?? ''));
  } catch {
    return { what, status: 'fail', detail: `${template} is not a URL`, fix: 'Write it as http://host:port/path.' };
  }
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const isReachable = await new Promise<boolean>((done) => {
    const socket = connect({ host: url.hostname, port, timeout: CONNECT_MS });
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
    ? { what, status: 'ok', detail: `${detail} answers` }
    : {
        what,
        status: 'fail',
        detail: `${detail} does not answer`,
        fix: 'Start the agent, or correct runner.http.url.',
      };
}

function judgeFindings(suite: Suite, io: Io): Finding[] {
  const { queries, judgeConfig } = suite;
  const rubrics = ['llm_judge', 'safety_check', 'hallucination_check'];
  const asking = queries.filter(({ correctness }) => rubrics.some((key) => correctness?.[key] !== undefined)).length;
  const named = typeof judgeConfig?.api_key_env === 'string' ? [judgeConfig.api_key_env] : KEYS;
  const present = named.filter((name) => io.env[name]);
  if (asking === 0) return [{ what: 'judge', status: 'ok', detail: 'no query has a rubric' }];
  if (present.length > 0)
    return [{ what: 'judge', status: 'ok', detail: `${asking} queries with rubrics; key in ${present.join(', ')}` }];
  const cache = judgeCacheOf(folderOf(suite, io), undefined, io);
  if (existsSync(cache) && readdirSync(cache).length > 0) {
    return [
      {
        what: 'judge',
        status: 'ok',
        detail: `${asking} queries with rubrics; no key, stored verdicts are there (--judge recorded)`,
      },
    ];
  }
  const fix = `Set ${named.join(' or ')}, commit .agentci/judge-cache of a run with a key, or use --judge off.`;
  return [
    { what: 'judge', status: 'warn', detail: `${asking} queries with rubrics, no key and no stored verdicts`, fix },
  ];
}

function baselineFinding(suite: Suite, io: Io): Finding {
  const what = 'baselines';
  const dir = resolve(io.cwd, suite.dir, suite.baselineDir);
  try {
    const list = listBaselineFiles(dir, suite.agent);
    const files = usableBaselines(list, undefined);
    const versions = [...new Set(files.map(({ version }) => version))];
    const detail = versions.length === 0 ? 'none saved yet' : `${files.length} in ${versions.join(', ')}`;
    return { what, status: 'ok', detail };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { what, status: 'fail', detail: error.message, fix: 'Restore the file or delete it.' };
  }
}

function storeFinding(file: string, io: Io): Finding {
  const runs = listRuns(runsRoot(dirname(resolve(io.cwd, file))));
  const open = runs.filter(({ finished }) => !finished).length;
  const detail = runs.length === 0 ? 'no run stored here yet' : `${runs.length} stored, ${open} unfinished`;
  return open === 0
    ? { what: 'runs', status: 'ok', detail }
    : { what: 'runs', status: 'ok', detail: `${detail} (--resume continues one)` };
}

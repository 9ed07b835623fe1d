import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { makeFolder } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { findProgram } from '@agentci/lib/process';
import { andMore } from '@agentci/lib/text';
import { listCassetteFiles } from '@agentci/run';
import { Option } from 'commander';
import { type AgentLanguage, LANGUAGES } from '../../init/agents.ts';
import { askText, choose, type Prompt, withTerminal } from '../../init/ask.ts';
import { CI_SYSTEMS, type CiSystem, jobNotes } from '../../init/ci-jobs.ts';
import {
  type InitPlan,
  RUNNERS,
  type RunnerChoice,
  type Starter,
  starterFiles,
} from '../../init/files.ts';
import { detectProject, type Project } from '../../init/project.ts';
import { DEFAULT_SPEC } from '../../stored-runs/spec-folders.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { collectList, wholeNumber } from '../options.ts';

const RUNS = '.agentci/runs/';
const MATRIX_RUNS = 'agents/*/.agentci/runs/';
const CAPTURES = '.agentci/captures/';

interface InitOptions {
  readonly agent?: string;
  readonly runner?: RunnerChoice;
  readonly language?: AgentLanguage;
  readonly capture?: boolean;
  readonly ci?: CiSystem;
  readonly matrix?: string[];
  readonly shards?: number;
  readonly force?: boolean;
  readonly yes?: boolean;
}

export const command: CliCommand = {
  name: 'init',
  summary: 'write a spec, a starter agent and a CI job, and run them',
  configure: (parser) =>
    parser
      .option('--agent <name>', "the agent's name (default: the project's)")
      .addOption(
        new Option('--runner <kind>', 'how the agent is reached (default: replay)').choices([
          ...RUNNERS,
        ]),
      )
      .addOption(
        new Option(
          '--language <name>',
          "of the starter agent for --runner command (default: the project's)",
        ).choices([...LANGUAGES]),
      )
      .option(
        '--capture',
        'for --runner command: see what the agent does from outside (capture: auto)',
      )
      .addOption(
        new Option('--ci <system>', 'the CI job to write (default: github)').choices([
          ...CI_SYSTEMS,
        ]),
      )
      .option(
        '--matrix <agents>',
        'a spec in agents/<name>/ and a job for each of these agents (separate by commas)',
        collectList,
      )
      .option(
        '--shards <n>',
        'divide the suite among this many CI jobs, and join their results in one more',
        wholeNumber(2, 256),
      )
      .option('--force', 'write over files that exist')
      .option('-y, --yes', 'ask nothing')
      .addHelpText(
        'after',
        `
On a terminal it asks for what is not given; otherwise it takes the defaults. It never writes over a file without
--force, and never over an agent; where a spec exists already, only the CI job is written. It ends with agentci validate and agentci test on what it wrote.

Examples:
  agentci init --runner command --language python
  agentci init --agent docs-assistant --runner module --ci gitlab
  agentci init --shards 4`,
      ),
  run: async ({ options, io }) => {
    const given = options as InitOptions;
    const project = detectProject(io.cwd);
    const python = pythonIn(io.env);
    const defaults = {
      runner: 'replay',
      ci: 'github',
      language: languageOf(project, python),
    } as const;
    if (given.agent !== undefined) checkedName(given.agent);
    const matrix = (given.matrix ?? []).map(checkedName);
    refuseShards(given);
    let answers: InitOptions;
    try {
      answers = canAsk(given, io)
        ? await withTerminal((prompt) => ask(prompt, given, project, defaults))
        : given;
    } catch (error) {
      if (!io.signal.aborted) throw error;
      io.stderr.write('agentci: interrupted; nothing was written\n');
      return 130;
    }
    const plan: InitPlan = {
      ...defaults,
      ...answers,
      agent: checkedName(answers.agent ?? project.name),
      matrix: [...new Set(matrix)],
      project,
      python: python ?? 'python3',
      version: io.version,
      ...repositoryOf(io.cwd),
    };
    const starter = withoutExisting(starterFiles(plan), given.force ?? false, io);
    const seen = [project.framework, project.language, project.packageManager]
      .filter(Boolean)
      .join(', ');
    if (seen) io.stdout.write(`found ${seen}\n`);
    const hasOwnAgent = writeStarter(starter, io) || starter.keepsSpec;
    const ignored = plan.matrix.length > 0 ? MATRIX_RUNS : RUNS;
    for (const pattern of plan.capture === true ? [ignored, CAPTURES] : [ignored])
      if (ignoreRuns(pattern, io)) io.stdout.write(`added ${pattern} to .gitignore\n`);
    for (const note of jobNotes(plan.ci, { ...plan, isPython: false }))
      io.stdout.write(`note: ${note}\n`);
    if (plan.ci !== 'none' && repositoryRoot(io.cwd) === undefined)
      io.stdout.write('note: this folder is not in a git repository yet: git init\n');
    return tryOut(plan, starter, hasOwnAgent, io);
  },
};

/** Ends where the user starts: the spec is checked and, where nothing of the user's own is started by it, run. */
async function tryOut(
  plan: InitPlan,
  { specs }: Starter,
  hasOwnAgent: boolean,
  io: Io,
): Promise<number> {
  // Imported on demand, so that the build makes it one file: `validate` itself would load a second one otherwise.
  const { command: validate } = await import('./validate.ts');
  const valid = await validate.run({ args: specs, options: {}, io });
  const named = (spec: string) => (spec === DEFAULT_SPEC ? '' : ` -c ${spec}`);
  if (valid !== 0 || plan.runner === 'http' || hasOwnAgent) {
    for (const spec of specs)
      io.stdout.write(
        `next: npx agentci doctor${named(spec)}, then npx agentci test${named(spec)}\n`,
      );
    return valid;
  }
  const { runTests } = await import('../../test-command/run-tests.ts');
  const codes: number[] = [];
  for (const config of specs) {
    io.stdout.write('\n');
    codes.push(await runTests({ config }, io, 'test'));
  }
  const code = codes.find((one) => one !== 0) ?? 0;
  io.stdout.write(nextSteps(plan, specs, code));
  return code;
}

function nextSteps({ runner, language }: InitPlan, specs: readonly string[], code: number): string {
  const [spec = DEFAULT_SPEC] = specs;
  if (code !== 0) return `\nnext: npx agentci doctor -c ${spec} says what is missing\n`;
  const edit = {
    replay: 'put recordings of your own agent into traces/',
    command: `call your own agent in ${specs.map((one) => one.replace(DEFAULT_SPEC, language === 'python' ? 'agent.py' : 'agent.mjs')).join(' and ')}`,
    module: 'call your own agent in the module',
    http: 'start your agent',
  }[runner];
  const tests = specs.map((one) => `npx agentci test${one === DEFAULT_SPEC ? '' : ` -c ${one}`}`);
  return `\nnext: ${edit}, write your queries into ${specs.join(' and ')}, then ${tests.join(' and ')}\n`;
}

/** Says whether an agent that was there before is the one the spec names. */
function writeStarter({ files, agents }: Starter, io: Io): boolean {
  let hasOwnAgent = false;
  for (const [path, text] of Object.entries(files)) {
    const target = join(io.cwd, path);
    if (agents.includes(path) && existsSync(target)) {
      hasOwnAgent ||= readFileSync(target, 'utf8') !== text;
      io.stdout.write(`kept ${path}\n`);
      continue;
    }
    makeFolder(dirname(target));
    writeFileSync(target, text);
    io.stdout.write(`wrote ${path}\n`);
  }
  return hasOwnAgent;
}

const canAsk = (given: InitOptions, io: Io): boolean =>
  io.stdout.isTerminal && process.stdin.isTTY === true && !given.yes;

/** Python where the project is Python, or where nothing says what it is and Python is installed. */
function languageOf({ language }: Project, python: string | undefined): AgentLanguage {
  if (language === 'python') return 'python';
  return language === undefined && python !== undefined ? 'python' : 'node';
}

const pythonIn = (env: Io['env']): string | undefined =>
  ['python3', 'python'].find((name) => findProgram(name, { env, cwd: '.' }) !== undefined);

function repositoryRoot(dir: string): string | undefined {
  if (existsSync(join(dir, '.git'))) return dir;
  return dirname(dir) === dir ? undefined : repositoryRoot(dirname(dir));
}

function repositoryOf(dir: string): Pick<InitPlan, 'folder' | 'hasGitlab' | 'hasCassettes'> {
  const root = repositoryRoot(dir) ?? dir;
  return {
    folder: relative(root, dir).split(sep).join('/'),
    hasGitlab: existsSync(join(root, '.gitlab-ci.yml')),
    hasCassettes: listCassetteFiles(join(dir, 'cassettes')).length > 0,
  };
}

function checkedName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) return name;
  throw new UserError('AGENT_NAME', `"${name}" cannot be used as a name`, {
    hint: 'Use letters, digits, dots, dashes and underscores.',
  });
}

/**
 * A spec that is there is the user's own: only the CI job is new then. Where nothing would be new, nothing is written.
 * Folders in the place of a file are refused, with --force too.
 */
function withoutExisting(
  starter: Starter,
  force: boolean,
  io: Io,
): Starter & { readonly keepsSpec: boolean } {
  const isThere = (path: string): boolean => existsSync(join(io.cwd, path));
  const folders = Object.keys(starter.files).filter((path) =>
    statSync(join(io.cwd, path), { throwIfNoEntry: false })?.isDirectory(),
  );
  if (folders.length > 0)
    throw new UserError(
      'FILE_IS_FOLDER',
      `${andMore(folders, 5)}: there is a folder of that name; nothing was written`,
      {
        hint: 'Move it away, or start in another folder.',
      },
    );
  if (force) return { ...starter, keepsSpec: false };
  const existing = Object.keys(starter.files).filter(
    (path) => !starter.agents.includes(path) && isThere(path),
  );
  if (existing.length === 0) return { ...starter, keepsSpec: false };
  const keepsSpec = starter.specs.some(isThere);
  const jobs = starter.jobs.filter((path) => !isThere(path));
  if (!keepsSpec || jobs.length === 0)
    throw new UserError(
      'FILE_EXISTS',
      `${andMore(existing, 5)} ${existing.length === 1 ? 'exists' : 'exist'} already; nothing was written`,
      { hint: `--force writes over ${existing.length === 1 ? 'it' : 'them'}.` },
    );
  for (const spec of starter.specs.filter(isThere))
    io.stdout.write(`kept ${spec} (--force writes over it)\n`);
  return {
    ...starter,
    files: Object.fromEntries(jobs.map((path) => [path, starter.files[path]!])),
    agents: [],
    specs: starter.specs.filter(isThere),
    keepsSpec,
  };
}

/** Only the runs: verdicts of the judge and baselines are meant to be committed. */
function ignoreRuns(pattern: string, io: Io): boolean {
  const path = join(io.cwd, '.gitignore');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (text.split('\n').some((line) => line.trim() === pattern)) return false;
  appendFileSync(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${pattern}\n`);
  return true;
}

/** Shards are jobs of one spec in some CI. */
function refuseShards({ shards, matrix = [], ci }: InitOptions): void {
  if (shards === undefined) return;
  if (matrix.length > 0)
    throw new UserError(
      'OPTIONS_CONFLICT',
      '--shards divides one suite, and --matrix makes several',
      {
        hint: 'Leave out one of them: the agents of a matrix have a job each already.',
      },
    );
  if (ci === 'none')
    throw new UserError(
      'OPTIONS_CONFLICT',
      '--shards is about CI jobs, and --ci none writes none',
      {
        hint: 'Choose --ci github or --ci gitlab.',
      },
    );
}

type Defaults = Pick<InitPlan, 'runner' | 'ci' | 'language'>;

async function ask(
  prompt: Prompt,
  given: InitOptions,
  project: Project,
  defaults: Defaults,
): Promise<InitOptions> {
  const agent =
    given.agent ??
    (await askText(prompt, {
      question: 'Name of the agent',
      fallback: project.name,
      check: checkedName,
    }));
  const runner =
    given.runner ??
    (await choose(prompt, {
      question: 'How is it reached?',
      choices: RUNNERS,
      fallback: defaults.runner,
    }));
  const language =
    given.language ??
    (runner === 'command'
      ? await choose(prompt, {
          question: 'In which language?',
          choices: LANGUAGES,
          fallback: defaults.language,
        })
      : defaults.language);
  const capture =
    given.capture ??
    (runner === 'command' &&
      (await choose(prompt, {
        question: 'Does it print only its answer? Then its calls can be captured',
        choices: ['yes', 'no'],
        fallback: 'no',
      })) === 'yes');
  const ci =
    given.ci ??
    (await choose(prompt, { question: 'Which CI?', choices: CI_SYSTEMS, fallback: defaults.ci }));
  return { ...given, agent, runner, language, capture, ci };
}

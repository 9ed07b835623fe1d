import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Option } from 'commander';
import { UserError } from '../../kit/user-error.ts';
import type { CliCommand } from '../cli-command.ts';
import { CI_SYSTEMS, type CiSystem, RUNNERS, type RunnerChoice, starterFiles } from '../init/files.ts';
import { detectProject, type Project } from '../init/project.ts';
import type { Io } from '../io.ts';
import { collectList } from '../options.ts';

const IGNORED = '.agentci/runs/';

interface InitOptions {
  readonly agent?: string;
  readonly runner?: RunnerChoice;
  readonly ci?: CiSystem;
  readonly matrix?: string[];
  readonly force?: boolean;
  readonly yes?: boolean;
}

export const command: CliCommand = {
  name: 'init',
  summary: 'write a spec, a recording and a CI job to start from',
  configure: (parser) =>
    parser
      .option('--agent <name>', "the agent's name (default: the project's)")
      .addOption(new Option('--runner <kind>', 'how the agent is reached (default: replay)').choices([...RUNNERS]))
      .addOption(new Option('--ci <system>', 'the CI job to write (default: github)').choices([...CI_SYSTEMS]))
      .option(
        '--matrix <agents>',
        'one job for each of these agents, in agents/<name>/ (separate by commas)',
        collectList,
      )
      .option('--force', 'write over files that exist')
      .option('-y, --yes', 'ask nothing')
      .addHelpText(
        'after',
        `
On a terminal it asks for what is not given; otherwise it takes the defaults. It never writes over a file without --force.

Example:
  agentci init --agent docs-assistant --runner command --ci gitlab`,
      ),
  run: async ({ options, io }) => {
    const given = options as InitOptions;
    const project = detectProject(io.cwd);
    const answers = io.stdout.isTerminal && !given.yes ? await ask(given, project) : given;
    const plan = {
      agent: checkedName(answers.agent ?? project.name),
      runner: answers.runner ?? 'replay',
      ci: answers.ci ?? 'github',
      matrix: (answers.matrix ?? []).map(checkedName),
      project,
    };
    const files = starterFiles(plan);
    refuseExisting(Object.keys(files), given.force ?? false, io);
    const seen = [project.framework, project.language, project.packageManager].filter(Boolean).join(', ');
    if (seen) io.stdout.write(`found ${seen}\n`);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(io.cwd, path)), { recursive: true });
      writeFileSync(join(io.cwd, path), text);
      io.stdout.write(`wrote ${path}\n`);
    }
    if (ignoreRuns(io)) io.stdout.write(`added ${IGNORED} to .gitignore\n`);
    // Imported on demand, so that the build makes it one file: `validate` itself would load a second one otherwise.
    const { command: validate } = await import('./validate.ts');
    const code = await validate.run({ args: ['agentci_spec.yaml'], options: {}, io });
    io.stdout.write(plan.runner === 'replay' ? 'next: agentci test\n' : 'next: agentci doctor, then agentci test\n');
    return code;
  },
};

function checkedName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) return name;
  throw new UserError('AGENT_NAME', `"${name}" cannot be used as a name`, {
    hint: 'Use letters, digits, dots, dashes and underscores.',
  });
}

function refuseExisting(paths: readonly string[], force: boolean, io: Io): void {
  const existing = paths.filter((path) => existsSync(join(io.cwd, path)));
  if (existing.length === 0 || force) return;
  throw new UserError('FILE_EXISTS', `${existing.join(', ')} exists already; nothing was written`, {
    hint: '--force writes over it.',
  });
}

/** Only the runs: verdicts of the judge and baselines are meant to be committed. */
function ignoreRuns(io: Io): boolean {
  const path = join(io.cwd, '.gitignore');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (text.split('\n').some((line) => line.trim() === IGNORED)) return false;
  appendFileSync(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${IGNORED}\n`);
  return true;
}

async function ask(given: InitOptions, project: Project): Promise<InitOptions> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const choose = async <T extends string>(question: string, choices: readonly T[], fallback: T): Promise<T> => {
    for (;;) {
      const answer = (await lines.question(`${question} (${choices.join(', ')}) [${fallback}] `)).trim() || fallback;
      const found = choices.find((choice) => choice === answer);
      if (found !== undefined) return found;
    }
  };
  try {
    const agent =
      given.agent ?? ((await lines.question(`Name of the agent [${project.name}] `)).trim() || project.name);
    const runner = given.runner ?? (await choose('How is it reached?', RUNNERS, 'replay'));
    const ci = given.ci ?? (await choose('Which CI?', CI_SYSTEMS, 'github'));
    return { ...given, agent, runner, ci };
  } finally {
    lines.close();
  }
}

import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC } from '../stored-runs/spec-folders.ts';
import { withTerminal } from './ask.ts';
import { jobNotes } from './ci-jobs.ts';
import { type InitPlan, type Starter, starterFiles } from './files.ts';
import { ask, canAsk, checkedName, type InitOptions, refuseShards } from './init-answers.ts';
import { languageOf, pythonIn, repositoryOf, repositoryRoot } from './init-plan.ts';
import { detectProject } from './project.ts';
import {
  CAPTURES,
  ignoreRuns,
  MATRIX_RUNS,
  RUNS,
  withoutExisting,
  writeStarter,
} from './write-starter.ts';

/** Writes the missing files for a first run, and runs it. */
export async function initProject(given: InitOptions, io: Io): Promise<number> {
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
}

/**
 * Tries the new project: checks the spec and, if this does not start anything of the user's, runs
 * it.
 */
async function tryOut(
  plan: InitPlan,
  { specs }: Starter,
  hasOwnAgent: boolean,
  io: Io,
): Promise<number> {
  // Imported on demand, so that the build creates one chunk. `validate` itself would load a second
  // one otherwise.
  const { command: validate } = await import('../cli/commands/validate.ts');
  const valid = await validate.run({ args: specs, options: {}, io });
  const named = (spec: string) => (spec === DEFAULT_SPEC ? '' : ` -c ${spec}`);
  if (valid !== 0 || plan.runner === 'http' || hasOwnAgent) {
    for (const spec of specs)
      io.stdout.write(
        `next: npx agentci doctor${named(spec)}, then npx agentci test${named(spec)}\n`,
      );
    return valid;
  }
  const { runTests } = await import('../test-command/run-tests.ts');
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
    replay: 'put recordings of your agent into traces/',
    command: `call your own agent in ${specs.map((one) => one.replace(DEFAULT_SPEC, language === 'python' ? 'agent.py' : 'agent.mjs')).join(' and ')}`,
    module: 'call your own agent in the module',
    http: 'start your agent',
  }[runner];
  const tests = specs.map((one) => `npx agentci test${one === DEFAULT_SPEC ? '' : ` -c ${one}`}`);
  return `\nnext: ${edit}, write your queries into ${specs.join(' and ')}, then ${tests.join(' and ')}\n`;
}

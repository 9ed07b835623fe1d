import { UserError } from '@agentci/lib/problems';
import type { Io } from '../cli/io.ts';
import { type AgentLanguage, LANGUAGES } from './agents.ts';
import { askText, choose, type Prompt } from './ask.ts';
import { CI_SYSTEMS, type CiSystem } from './ci-jobs.ts';
import { type InitPlan, RUNNERS, type RunnerChoice } from './files.ts';
import type { Project } from './project.ts';

export interface InitOptions {
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

export const canAsk = (given: InitOptions, io: Io): boolean =>
  io.stdout.isTerminal && process.stdin.isTTY === true && !given.yes;

export function checkedName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) return name;
  throw new UserError('OPTION_INVALID', `"${name}" cannot be used as a name`, {
    hint: 'Use letters, digits, dots, dashes and underscores.',
  });
}

/** Some CI systems only split a single spec into shards. */
export function refuseShards({ shards, matrix = [], ci }: InitOptions): void {
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

export async function ask(
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

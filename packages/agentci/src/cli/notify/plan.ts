import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { agentRuns } from '../../history/agent-runs.ts';
import { chooseRuns } from '../../history/choose-runs.ts';
import { historyRoot, readRuns } from '../../history/history-files.ts';
import { didYouMean } from '../../kit/did-you-mean.ts';
import { UserError } from '../../kit/user-error.ts';
import { namesIn } from '../../reporters/notify/fill-template.ts';
import { EMPTY_NOTICE, statusWord } from '../../reporters/notify/notice.ts';
import type { NotifyContext } from '../../reporters/reporter.ts';
import type { RunResult } from '../../results/run-result.ts';
import { jobUrl } from '../ci-urls.ts';
import type { GitState } from '../git-state.ts';
import type { Io } from '../io.ts';
import type { NotifyOptions } from './flags.ts';
import type { Channel } from './send.ts';
import { keepLastTold, lastTold } from './undelivered.ts';

const MAX_TEMPLATE_BYTES = 256 * 1024;

/** What is said with a notification, and whether there is one at all. */
export interface NotifyPlan {
  readonly context: NotifyContext;
  readonly isDue: (run: RunResult, channel: Channel) => boolean;
  /** Notes whether the message of a run reached a channel. */
  readonly settle: (channel: Channel, isDelivered: boolean) => void;
}

/** Reads the template first: a mistake in it should not cost a run. */
export function readTemplate({ notifyTemplate: file }: NotifyOptions, io: Io): unknown {
  if (file === undefined) return undefined;
  const path = resolve(io.cwd, file);
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY) > MAX_TEMPLATE_BYTES)
    throw new UserError('NOTIFY_TEMPLATE', `--notify-template: ${file} is not there, or too large`);
  try {
    const text = readFileSync(path, 'utf8');
    const template = JSON.parse(text) as unknown;
    refuseUnknownNames(text, file);
    return template;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError('NOTIFY_TEMPLATE', `--notify-template: ${file} is not JSON: ${(error as Error).message}`);
  }
}

/** A misspelt name would leave a gap in every message. */
function refuseUnknownNames(text: string, file: string): void {
  const fields = Object.keys(EMPTY_NOTICE);
  const unknown = namesIn(text).find((name) => !fields.includes(name));
  if (unknown === undefined) return;
  const near = didYouMean(unknown, fields);
  throw new UserError('NOTIFY_TEMPLATE', `--notify-template: ${file} has an unknown name {{${unknown}}}`, {
    hint: near === undefined ? `The names are: ${fields.join(', ')}` : `Did you mean {{${near}}}?`,
  });
}

/** Compares with the previous run of the same spec and agent on the same branch, from the history. */
export function planNotify(
  run: Pick<RunResult, 'agent' | 'spec' | 'run_id'>,
  input: {
    readonly options: NotifyOptions;
    readonly folder: string;
    readonly git: GitState;
    readonly isPart: boolean;
    readonly template: unknown;
    readonly io: Io;
  },
): NotifyPlan {
  const { options, folder, git, isPart, template, io } = input;
  const spec = run.spec.file.split(/[\\/]/).at(-1)!;
  const before = chooseRuns(readRuns(historyRoot(folder)).lines, { branch: git.branch, spec, agent: run.agent }).filter(
    ({ id, part }) => id !== run.run_id && (part === true) === isPart,
  );
  // By when the agent ran: an old run that is judged again is not the previous one.
  const last = agentRuns(before).at(-1)?.run;
  const previous = last === undefined ? undefined : statusWord(last.exit);
  const { notifyOn = 'always' } = options;
  const keyOf = (channel: Channel): string => [channel, git.branch ?? '', spec, run.agent, isPart].join(' ');
  const toldIn = (channel: Channel): string | undefined => lastTold(folder, keyOf(channel)) ?? previous;
  const url = jobUrl(io.env);
  return {
    context: {
      ...git,
      ...(url === undefined ? {} : { url }),
      ...(previous === undefined ? {} : { previous }),
      ...(template === undefined ? {} : { template }),
    },
    isDue: ({ summary }, channel) => {
      const verdict = statusWord(summary.exit_code);
      const isNews = toldIn(channel) !== verdict;
      // Back to what was told last: there is nothing left to catch up on.
      if (!isNews) keepLastTold(folder, keyOf(channel), undefined);
      return notifyOn === 'always' || (notifyOn === 'fail' ? summary.exit_code !== 0 : isNews);
    },
    settle: (channel, isDelivered) =>
      keepLastTold(folder, keyOf(channel), isDelivered ? undefined : (toldIn(channel) ?? 'nothing')),
  };
}

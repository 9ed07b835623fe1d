import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { sha256Hex } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { didYouMean, plural } from '@agentci/lib/text';
import type { NotifyContext } from '@agentci/reporters';
import { EMPTY_NOTICE, namesIn, statusWord } from '@agentci/reporters';
import type { RunResult } from '@agentci/results';
import { placeOf } from '@agentci/results';
import { agentRuns, chooseRuns, historyRoot, readRuns } from '@agentci/run';
import { jobUrl } from '../ci/ci-run.ts';
import type { Io } from '../cli/io.ts';
import { addressOf, type Channel } from './channels.ts';
import type { FinishedRun, RunPart } from './finished-run.ts';
import type { NotifyOptions } from './flags.ts';
import { lastNotified, saveLastNotified } from './last-notified.ts';

const MAX_TEMPLATE_BYTES = 256 * 1024;

/** Stored if the first message of all was not delivered. */
const NOTHING = 'nothing';

/** Decides whether to notify, and with which comparison. */
export interface NotifyPlan {
  /** Context for a channel or for a file. */
  readonly contextFor: (channel: Channel | undefined) => NotifyContext;
  readonly isDue: (run: RunResult, channel: Channel) => boolean;
  /** Records whether a channel received the message. */
  readonly settle: (channel: Channel, isDelivered: boolean) => void;
}

/** Reads the template first, so that a mistake in it does not cost a run. */
export function readTemplate({ notifyTemplate: file }: NotifyOptions, io: Io): unknown {
  if (file === undefined) return undefined;
  const path = resolve(io.cwd, file);
  if (
    (statSync(path, { throwIfNoEntry: false })?.size ?? Number.POSITIVE_INFINITY) >
    MAX_TEMPLATE_BYTES
  )
    throw new UserError('FILE_UNREADABLE', `--notify-template: ${file} is not there, or too large`);
  try {
    const text = readFileSync(path, 'utf8');
    const template = JSON.parse(text) as unknown;
    refuseUnknownNames(text, file);
    return template;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      'FILE_UNREADABLE',
      `--notify-template: ${file} is not JSON: ${(error as Error).message}`,
    );
  }
}

/** A misspelled name would leave a gap in every message. */
function refuseUnknownNames(text: string, file: string): void {
  const fields = Object.keys(EMPTY_NOTICE);
  const unknown = namesIn(text).find((name) => !fields.includes(name));
  if (unknown === undefined) return;
  const near = didYouMean(unknown, fields);
  throw new UserError(
    'FILE_UNREADABLE',
    `--notify-template: ${file} has an unknown name {{${unknown}}}`,
    {
      hint:
        near === undefined ? `The names are: ${fields.join(', ')}` : `Did you mean {{${near}}}?`,
    },
  );
}

/**
 * Compares with the last verdict sent to a channel for this spec, agent and branch. If unknown,
 * compares with the previous complete run in the history.
 */
export function planNotify(
  run: Pick<RunResult, 'agent' | 'spec' | 'run_id' | 'started_at' | 'summary' | 'results'>,
  input: FinishedRun & { readonly options: NotifyOptions; readonly template: unknown },
): NotifyPlan {
  const { options, folder, git, part, template, io } = input;
  const spec = run.spec.file.split(/[\\/]/).at(-1)!;
  const { previous, isOld } = previousRun(run, input, spec);
  const { notifyOn = 'always' } = options;
  const keyOf = (channel: Channel): string =>
    [channel, addressMark(channel, io.env), git.branch ?? '', spec, run.agent].join(' ');
  const told = new Map<Channel, string | undefined>();
  /** The state before this run. An unknown channel counts as notified of the previous run. */
  const notifiedIn = (channel: Channel): string | undefined => {
    if (!told.has(channel)) told.set(channel, lastNotified(folder, keyOf(channel)) ?? previous);
    return told.get(channel);
  };
  const verdict = statusWord(run.summary.exit_code);
  /** Whether this run changes the known verdict on the whole suite. */
  const isNews = (known: string | undefined): boolean =>
    !isOld && known !== verdict && (part === undefined || isNewsOfPart(verdict, known, part));
  /**
   * The verdict to compare with: the last one sent. If good runs are not sent, readers do not know
   * about them.
   */
  const comparedIn = (channel: Channel | undefined): string | undefined => {
    if (channel === undefined || notifyOn === 'fail') return previous;
    const known = notifiedIn(channel);
    return known === NOTHING ? undefined : known;
  };
  const url = jobUrl(io.env);
  return {
    contextFor: (channel) => {
      const compared = comparedIn(channel);
      return {
        ...git,
        url,
        // A partial result is not compared with a full run, unless it changes the verdict.
        previous: part !== undefined && !isNews(compared) ? undefined : compared,
        part:
          part === undefined
            ? undefined
            : partText(run.results, part, notifyOn === 'change' && verdict === 'passed'),
        template,
      };
    },
    isDue: (_, channel) =>
      notifyOn === 'always' ||
      (notifyOn === 'fail' ? run.summary.exit_code !== 0 : isNews(notifiedIn(channel))),
    settle: (channel, isDelivered) => {
      const known = notifiedIn(channel);
      const isAboutSuite = part === undefined && !isOld;
      // A partial or old run only counts if it changes the verdict on the suite.
      if (isDelivered && (isAboutSuite || isNews(known)))
        saveLastNotified(folder, keyOf(channel), verdict);
      // The history advances although readers were not notified.
      if (!isDelivered && isAboutSuite) saveLastNotified(folder, keyOf(channel), known ?? NOTHING);
    },
  };
}

/**
 * A different address has different readers. The address is secret, so only a part of its hash is
 * stored.
 */
const addressMark = (channel: Channel, env: FinishedRun['io']['env']): string =>
  sha256Hex(addressOf(channel, env)).slice(0, 12);

/** The status of the previous complete run, and whether a newer one exists. */
function previousRun(
  run: Parameters<typeof planNotify>[0],
  { folder, git, ran, io }: FinishedRun,
  spec: string,
): { readonly previous: string | undefined; readonly isOld: boolean } {
  const place = placeOf(ran ?? { at: run.started_at ?? new Date(io.now()).toISOString() });
  const others = chooseRuns(readRuns(historyRoot(folder)).lines, {
    branch: git.branch,
    spec,
    agent: run.agent,
  }).filter(({ id, part: isPart }) => id !== run.run_id && isPart !== true);
  // Orders by the agent's run, not by dates, because clocks differ. An old run that is judged again
  // is not the previous run.
  const whole = agentRuns(others);
  const isOld = whole.some((each) => placeOf(each.run) > place);
  const last = whole.findLast((each) => placeOf(each.run) <= place)?.run;
  return { previous: last === undefined ? undefined : statusWord(last.exit), isOld };
}

/**
 * A partial run can break a good suite. It repairs a suite only if the last verdict on everything
 * else is good.
 */
const isNewsOfPart = (
  verdict: string,
  known: string | undefined,
  { isAllGood }: RunPart,
): boolean =>
  verdict === 'failed' || (verdict === 'passed' && known !== undefined && isAllGood?.() === true);

function partText(results: RunResult['results'], { total }: RunPart, isRecovery: boolean): string {
  const [one, many] = results.some(({ cell }) => cell !== undefined)
    ? ['result', 'results']
    : ['query', 'queries'];
  const count =
    total === undefined
      ? plural(results.length, one, many)
      : `${results.length} of ${plural(total, one, many)}`;
  return `part of the suite: ${count}${isRecovery ? '; the last verdict on every other query was good' : ''}`;
}

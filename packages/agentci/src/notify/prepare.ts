import { UserError } from '@agentci/lib/problems';
import type { RunResult } from '@agentci/results';
import type { Io } from '../cli/io.ts';
import type { OutputPlan } from '../report/outputs.ts';
import { type Channel, channelProblem, URLS } from './channels.ts';
import type { FinishedRun } from './finished-run.ts';
import type { NotifyOptions } from './flags.ts';
import type { NotifyPlan } from './plan.ts';

type NotifyWith = (run: RunResult, ended: FinishedRun) => { readonly notify: NotifyPlan };

/**
 * Prepares notifications before the run, so that a mistake in the template does not cost one. The
 * rest is loaded only for a message.
 */
export async function prepareNotify(
  plans: readonly OutputPlan[],
  options: NotifyOptions & { readonly shard?: unknown; readonly dryRun?: boolean },
  io: Io,
): Promise<NotifyWith | undefined> {
  const isSent = plans.some(({ sentTo }) => sentTo !== undefined);
  const isMade = isSent || plans.some(({ reporter }) => Object.hasOwn(URLS, reporter));
  let idle: '--notify-on' | '--notify-template' | undefined;
  if (options.notifyOn !== undefined && !isSent) idle = '--notify-on';
  else if (options.notifyTemplate !== undefined && !isMade) idle = '--notify-template';
  if (idle !== undefined)
    throw new UserError(
      'OPTIONS_CONFLICT',
      `${idle}: no message is sent here, so it has no effect`,
      {
        hint: 'Add -f slack or -f webhook, without a file name.',
      },
    );
  if (!isMade) return undefined;
  // A shard sends nothing.
  if (options.shard === undefined && !options.dryRun)
    warnOfProblems(new Set(plans.flatMap(({ sentTo }) => sentTo ?? [])), io);
  const { planNotify, readTemplate } = await import('./plan.ts');
  const template = readTemplate(options, io);
  return (run, ended) => ({ notify: planNotify(run, { options, template, ...ended }) });
}

/**
 * Checked before the run, so there is time to fix it. Only a warning, because the verdict does not
 * depend on messages.
 */
function warnOfProblems(channels: ReadonlySet<Channel>, io: Io): void {
  for (const channel of channels) {
    const problem = channelProblem(channel, io.env);
    if (problem !== undefined)
      io.stderr.write(`agentci: warning: ${channel} cannot be notified: ${problem}\n`);
  }
}

import { UserError } from '../../kit/user-error.ts';
import type { RunResult } from '../../results/run-result.ts';
import type { Io } from '../io.ts';
import type { OutputPlan } from '../outputs.ts';
import { URLS } from './channels.ts';
import type { Ended } from './ended.ts';
import type { NotifyOptions } from './flags.ts';
import type { NotifyPlan } from './plan.ts';

type NotifyWith = (run: RunResult, ended: Ended) => { readonly notify: NotifyPlan };

/** Makes ready to notify, before the run: a mistake in the template should not cost one. The rest is loaded only where there is a message. */
export async function prepareNotify(
  plans: readonly OutputPlan[],
  options: NotifyOptions,
  io: Io,
): Promise<NotifyWith | undefined> {
  const isSent = plans.some(({ sentTo }) => sentTo !== undefined);
  const isMade = isSent || plans.some(({ reporter }) => Object.hasOwn(URLS, reporter));
  const idle =
    options.notifyOn !== undefined && !isSent
      ? '--notify-on'
      : options.notifyTemplate !== undefined && !isMade
        ? '--notify-template'
        : undefined;
  if (idle !== undefined)
    throw new UserError('OPTIONS_CONFLICT', `${idle}: no message is sent here, so it has no effect`, {
      hint: 'Add -f slack or -f webhook, without a file name.',
    });
  if (!isMade) return undefined;
  const { planNotify, readTemplate } = await import('./plan.ts');
  const template = readTemplate(options, io);
  return (run, ended) => ({ notify: planNotify(run, { options, template, ...ended }) });
}

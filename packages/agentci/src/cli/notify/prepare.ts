import type { RunResult } from '../../results/run-result.ts';
import type { GitState } from '../git-state.ts';
import type { Io } from '../io.ts';
import type { NotifyOptions } from './flags.ts';
import type { NotifyPlan } from './plan.ts';

/** What a run says when it is over. */
interface Ended {
  /** The folder of the spec. */
  readonly folder: string;
  readonly git: GitState;
  readonly isPart: boolean;
  readonly io: Io;
}

/** Makes ready to notify, before the run: a mistake in the template should not cost one. Loaded only where a report is sent. */
export async function prepareNotify(
  options: NotifyOptions,
  io: Io,
): Promise<(run: RunResult, ended: Ended) => { readonly notify: NotifyPlan }> {
  const { planNotify, readTemplate } = await import('./plan.ts');
  const template = readTemplate(options, io);
  return (run, ended) => ({ notify: planNotify(run, { options, template, ...ended }) });
}

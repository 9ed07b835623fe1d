import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { readTraceItems } from '@agentci/formats';
import { UserError } from '@agentci/lib/problems';
import type { Trial } from '@agentci/results';
import { failedTrial, type Scoring, trialOf } from './score-trial.ts';

/**
 * The trials of a condition from recorded traces, one per trace, numbered from 1. An unreadable
 * trace is a failed trial.
 */
export async function readRecordings(
  { path, format }: { readonly path: string; readonly format?: string },
  {
    dir,
    condition,
    scoring,
  }: { readonly dir: string; readonly condition: string; readonly scoring: Scoring },
): Promise<Trial[]> {
  const source = isAbsolute(path) ? path : join(dir, path);
  if (!existsSync(source))
    throw new UserError('TRACES_MISSING', `condition ${condition}: there is no "${path}"`);
  const trials: Trial[] = [];
  for await (const item of readTraceItems(source, format === undefined ? {} : { format })) {
    const at = { condition, trial: trials.length + 1 };
    trials.push(item.ok ? trialOf(item.trace, at, scoring) : failedTrial(at, item.problem.message));
  }
  if (trials.length === 0)
    throw new UserError('NOTHING_FOUND', `condition ${condition}: no traces found in "${path}"`);
  return trials;
}

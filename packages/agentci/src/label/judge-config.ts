import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { auditJudge, type Judge, type JudgeConfig, limitedBudget } from '@agentci/judge';
import { loadSpec, type Suite } from '@agentci/spec';
import { seededRandom } from '@agentci/stats';
import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC, folderOf, judgeCacheOf, specPath } from '../stored-runs/spec-folders.ts';
import { type CalibrateFlags, printFindings } from './calibrate-labels.ts';
import { renderAudit } from './judge-report.ts';

export interface JudgeFlags extends CalibrateFlags {
  readonly config?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly repeats: number;
  readonly judge?: 'live' | 'recorded';
  readonly judgeCache?: string;
  readonly maxCost?: number;
}

export async function suiteOf({ config }: JudgeFlags, io: Io): Promise<Suite | undefined> {
  const wanted = config ?? (existsSync(join(io.cwd, DEFAULT_SPEC)) ? DEFAULT_SPEC : undefined);
  return wanted === undefined ? undefined : (await loadSpec(specPath(wanted, io.cwd))).suite;
}

export function configOf(suite: Suite | undefined, flags: JudgeFlags, io: Io): JudgeConfig {
  const written = (suite?.judgeConfig ?? {}) as JudgeConfig;
  return {
    ...written,
    model: flags.model ?? written.model,
    base_url: flags.baseUrl ?? written.base_url,
    // An explicit model is measured alone.
    ensemble: flags.model === undefined ? written.ensemble : undefined,
    mode: flags.judge ?? 'live',
    cacheDir: judgeCacheOf(suite ? folderOf(suite, io) : io.cwd, flags.judgeCache, io),
    env: io.env,
    signal: io.signal,
    random: seededRandom(flags.seed),
    budget: flags.maxCost === undefined ? written.budget : limitedBudget(flags.maxCost),
  };
}

export async function audit(judge: Judge, flags: JudgeFlags, io: Io): Promise<number> {
  const report = await auditJudge(judge, { repeats: flags.repeats });
  const usage = judge.usage?.();
  printFindings(io, flags, { ...report, judge: usage }, renderAudit(report, usage));
  if (report.attacks.succeeded.length > 0) return 1;
  return report.errors > 0 || !report.controls.hold ? 2 : 0;
}

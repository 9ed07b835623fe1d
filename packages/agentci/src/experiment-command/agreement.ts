import { measureRatings, renderAgreement } from '@agentci/lab/experiment';
import { UserError } from '@agentci/lib/problems';
import type { AgreementResult } from '@agentci/results';
import type { Io } from '../cli/io.ts';
import type { ExperimentFlags } from './experiment-run.ts';

export function agreement(
  file: string | undefined,
  { flags, io }: { flags: ExperimentFlags; io: Io },
): number {
  if (file === undefined)
    throw new UserError('OPTION_INVALID', 'agreement needs a CSV file of ratings', {
      hint: 'Its header: item,rater,validity,specificity,correctness',
    });
  const { level, minAlpha, samples, seed = 0, json = false } = flags;
  if (minAlpha !== undefined && level === 'all')
    throw new UserError(
      'OPTION_INVALID',
      '--min-alpha needs --level: one of the three α has to decide',
      {
        hint: 'for example: --level ordinal',
      },
    );
  const result = measureRatings(file, { dir: io.cwd, level, samples, seed });
  io.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : renderAgreement(result));
  return minAlpha === undefined ? 0 : agreementExit(result, minAlpha);
}

/** 1 if below the bound, 2 if α is undefined. */
function agreementExit({ components }: AgreementResult, minAlpha: number): number {
  const alphas = components.flatMap(({ alpha }) =>
    alpha.length === 0 ? [null] : alpha.map((each) => each.alpha),
  );
  if (alphas.some((alpha) => alpha !== null && alpha < minAlpha)) return 1;
  return alphas.includes(null) ? 2 : 0;
}

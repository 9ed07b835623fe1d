import { caseOf } from '../input.ts';
import { type Found, measured, notMeasured } from '../metric.ts';
import type { Grounded } from './grounding.ts';
import { byModel, claimsOf, supportOf } from './model-method.ts';

/** Share of the answer's claims that the judge finds supported by the contexts. */
export const measureClaims = (
  { input, answer, contexts, detail }: Grounded,
  { count, verdict: wanted }: { readonly count: string; readonly verdict: 0 | 1 },
): Promise<Found> =>
  byModel(input.judge, detail, async (tasks) => {
    const claims = await claimsOf(tasks, answer, caseOf(input).query);
    if (claims.length === 0) return notMeasured('the answer claims nothing');
    const verdicts = await supportOf(tasks, claims, contexts);
    const counted = verdicts.filter(({ verdict }) => verdict === wanted).length;
    return measured(counted / claims.length, { claims: claims.length, [count]: counted, verdicts });
  });

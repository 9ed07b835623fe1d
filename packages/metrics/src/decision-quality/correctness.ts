import type { PartScore } from './part-score.ts';

/** Lower bounds of the overlap, inclusive, and what each is worth. */
const BANDS = [
  { from: 0.7, score: 1, rule: 'overlap_70' },
  { from: 0.5, score: 0.75, rule: 'overlap_50' },
  { from: 0.3, score: 0.5, rule: 'overlap_30' },
  { from: 0.1, score: 0.25, rule: 'overlap_10' },
] as const;

/** The ground truth read once; several alternatives may each be right. */
export type GroundTruth = readonly ReadonlySet<string>[];

/** Ground truth as sets of words; a list holds alternatives, of which the nearest counts. */
export const readGroundTruth = (groundTruth: string | readonly string[]): GroundTruth =>
  (typeof groundTruth === 'string' ? [groundTruth] : groundTruth).map(tokens);

/** Lower case, split at white space, punctuation kept: as the definition computes it. */
const tokens = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().split(/\s+/).filter(Boolean));

/** How much of the ground truth an action says, in bands. Nothing to say of an empty ground truth: 0. */
export function scoreCorrectness(action: string, truth: GroundTruth): PartScore {
  const said = tokens(action);
  let best = 0;
  let evidence: string | undefined;
  for (const wanted of truth) {
    let shared = 0;
    for (const token of wanted) if (said.has(token)) shared++;
    const ratio = wanted.size === 0 ? 0 : shared / wanted.size;
    if (evidence !== undefined && ratio <= best) continue;
    best = ratio;
    evidence = `${shared} of ${wanted.size} words`;
  }
  const band = BANDS.find(({ from }) => best >= from);
  return {
    score: band?.score ?? 0,
    rule: band?.rule ?? 'overlap_below_10',
    evidence,
  };
}

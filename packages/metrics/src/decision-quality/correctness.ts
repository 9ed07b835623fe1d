import type { PartScore } from './part-score.ts';

/** Inclusive lower bounds of the overlap, with their scores. */
const BANDS = [
  { from: 0.7, score: 1, rule: 'overlap_70' },
  { from: 0.5, score: 0.75, rule: 'overlap_50' },
  { from: 0.3, score: 0.5, rule: 'overlap_30' },
  { from: 0.1, score: 0.25, rule: 'overlap_10' },
] as const;

/** Parsed ground truth, with alternatives. */
export type GroundTruth = readonly ReadonlySet<string>[];

/** Ground truth as sets of words. A list holds alternatives, of which the closest counts. */
export const readGroundTruth = (groundTruth: string | readonly string[]): GroundTruth =>
  (typeof groundTruth === 'string' ? [groundTruth] : groundTruth).map(tokens);

/** Lower case, split at white space, punctuation kept, as in the definition. */
const tokens = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().split(/\s+/).filter(Boolean));

/** Overlap of an action with the ground truth, in bands. 0 for an empty ground truth. */
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

import { AGREEMENT_SCHEMA, type AgreementResult } from '@agentci/results';
import { type AgreementLevel, measureAgreement } from './agreement.ts';
import { readRatings } from './read-ratings.ts';
import { readText } from './read-text.ts';

const LEVELS: readonly AgreementLevel[] = ['nominal', 'ordinal', 'interval'];

export interface RatingsOptions {
  /** Base folder of relative paths. Default: the working directory. */
  readonly dir?: string;
  /** The level of Krippendorff's α. Default: all three. */
  readonly level?: AgreementLevel | 'all';
  /** Number of resamples for the interval. Default: 1000. */
  readonly samples?: number;
  readonly seed?: number;
}

/** Agreement of the raters in a CSV file. */
export function measureRatings(file: string, options: RatingsOptions = {}): AgreementResult {
  const { dir = process.cwd(), level = 'all', samples = 1000, seed = 0 } = options;
  const ratings = readRatings(readText(file, { dir, what: 'agreement' }), file);
  const levels = level === 'all' ? LEVELS : [level];
  return {
    schema: AGREEMENT_SCHEMA,
    file,
    seed,
    ...measureAgreement(ratings, { levels, seed, samples }),
  };
}

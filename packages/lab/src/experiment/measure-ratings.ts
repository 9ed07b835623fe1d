import { AGREEMENT_SCHEMA, type AgreementResult } from '@agentci/results';
import { type AgreementLevel, measureAgreement } from './agreement.ts';
import { readRatings } from './read-ratings.ts';
import { readText } from './read-text.ts';

const LEVELS: readonly AgreementLevel[] = ['nominal', 'ordinal', 'interval'];

export interface RatingsOptions {
  /** The folder that a relative path starts from; the working folder. */
  readonly dir?: string;
  /** Which of Krippendorff's α; all three. */
  readonly level?: AgreementLevel | 'all';
  /** Resamples of the interval; 1000. */
  readonly samples?: number;
  readonly seed?: number;
}

/** How far the raters in a CSV file agree. */
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

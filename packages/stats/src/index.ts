/** Pure statistics functions. Randomness comes from a seed. An undefined result is `null`. */
export { type BootstrapOptions, bootstrapInterval } from './bootstrap-interval.ts';
export { cliffsDelta } from './cliffs-delta.ts';
export { clopperPearsonInterval } from './clopper-pearson-interval.ts';
export { type ClusteredOutcome, clusteredRateInterval } from './clustered-rate-interval.ts';
export { clusteredStandardError } from './clustered-standard-error.ts';
export { cohenKappa } from './cohen-kappa.ts';
export { cohensD } from './cohens-d.ts';
export { CUSUM_FALSE_ALARM_EVERY, CUSUM_MIN, findShift } from './cusum.ts';
export {
  type Description,
  describe,
  mean,
  quantile,
  standardDeviation,
  variance,
} from './descriptive.ts';
export { hedgesG } from './hedges-g.ts';
export type { Interval, IntervalOptions } from './interval.ts';
export { DEFAULT_LEVEL } from './interval.ts';
export { judgeCorrectedRate } from './judge-corrected-rate.ts';
export { krippendorffAlpha, type RatingLevel, type Ratings } from './krippendorff-alpha.ts';
export { mannWhitney } from './mann-whitney.ts';
export { mcnemar } from './mcnemar.ts';
export { meanInterval } from './mean-interval.ts';
export { benjaminiHochberg, holm } from './multiple-tests.ts';
export { normalQuantile } from './normal.ts';
export { normalSample } from './normal-sample.ts';
export { type OneWayAnova, oneWayAnova } from './one-way-anova.ts';
export { type PairedDifference, pairedDifference } from './paired-difference.ts';
export { type PairedVerdicts, pairedRateAt, pairedRateInterval } from './paired-rate-interval.ts';
export { type PassCounts, passAtK, passHatK } from './pass-at-k.ts';
export { varies } from './sample.ts';
export {
  type DiscordantRates,
  minimumDetectableEffect,
  type PairedVariance,
  requiredSampleSize,
} from './sample-size.ts';
export { seededRandom } from './seeded-random.ts';
export { signFlipTest } from './sign-flip-test.ts';
export { standardError } from './standard-error.ts';
export { studentQuantile } from './student-t.ts';
export { studentT } from './student-t-test.ts';
export { type SuitePassHatK, suitePassHatK } from './suite-pass-hat-k.ts';
export { spreadOf, type WelchT, welchT } from './welch-t.ts';
export { wilsonAt, wilsonInterval } from './wilson-interval.ts';

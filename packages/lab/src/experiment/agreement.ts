import type { AgreementAlpha, AgreementResult } from '@agentci/results';
import { cohenKappa, krippendorffAlpha, quantile, seededRandom } from '@agentci/stats';

/** A rating of one component of one item by one rater. */
export interface Rating {
  readonly item: string;
  readonly rater: string;
  readonly component: string;
  /** `null` if the rater left it open. */
  readonly value: number | string | null;
}

export type AgreementLevel = AgreementAlpha['level'];

export interface AgreementOptions {
  readonly levels: readonly AgreementLevel[];
  readonly seed: number;
  /** Number of resamples of the items. Default: 1000. */
  readonly samples?: number;
}

/**
 * Agreement of raters per component: Krippendorff's α with a bootstrap interval over items, and κ
 * for each pair.
 */
export function measureAgreement(
  ratings: readonly Rating[],
  options: AgreementOptions,
): Pick<AgreementResult, 'raters' | 'items' | 'components'> {
  const raters = distinct(ratings.map(({ rater }) => rater));
  const items = distinct(ratings.map(({ item }) => item));
  const components = distinct(ratings.map(({ component }) => component)).map((component) => {
    const table = tableOf(
      ratings.filter((rating) => rating.component === component),
      { raters, items },
    );
    const given = table.flat().filter((value) => value !== null);
    const isNumeric = given.every((value) => typeof value === 'number');
    return {
      component,
      ratings: given.length,
      missing: raters.length * items.length - given.length,
      // Words have no order. The other two levels need numbers.
      alpha: options.levels
        .filter((level) => isNumeric || level === 'nominal')
        .map((level) => alphaOf(table, level, options)),
      kappa: kappas(table, raters),
    };
  });
  return { raters, items: items.length, components };
}

type Table = readonly (readonly (number | string | null)[])[];

const distinct = (names: readonly string[]): string[] => [...new Set(names)];

/** One row per rater, one column per item. */
function tableOf(
  ratings: readonly Rating[],
  { raters, items }: { raters: readonly string[]; items: readonly string[] },
): Table {
  const values = new Map(
    ratings.map(({ rater, item, value }) => [JSON.stringify([rater, item]), value]),
  );
  return raters.map((rater) =>
    items.map((item) => values.get(JSON.stringify([rater, item])) ?? null),
  );
}

function alphaOf(
  table: Table,
  level: AgreementLevel,
  { seed, samples = 1000 }: AgreementOptions,
): AgreementAlpha {
  const random = seededRandom(seed);
  const items = table[0]?.length ?? 0;
  const estimates: number[] = [];
  for (let i = 0; i < samples; i++) {
    const drawn = Array.from({ length: items }, () => Math.floor(random() * items));
    const estimate = krippendorffAlpha(
      table.map((row) => drawn.map((item) => row[item])),
      { level },
    );
    // α is undefined for a resample with equal ratings, so it is skipped.
    if (estimate !== null) estimates.push(estimate);
  }
  const alpha = krippendorffAlpha(table, { level });
  const enough = alpha !== null && items > 1 && estimates.length >= samples / 2;
  return {
    level,
    alpha,
    ci95: enough ? { low: quantile(estimates, 0.025)!, high: quantile(estimates, 0.975)! } : null,
  };
}

function kappas(
  table: Table,
  raters: readonly string[],
): AgreementResult['components'][number]['kappa'] {
  return raters.flatMap((a, i) =>
    raters.slice(i + 1).map((b, j) => {
      const second = table[i + 1 + j]!;
      const both = table[i]!.flatMap((value, item) =>
        value === null || second[item] === null ? [] : [[value, second[item]] as const],
      );
      return {
        a,
        b,
        n: both.length,
        kappa: cohenKappa(
          both.map(([x]) => x),
          both.map(([, y]) => y),
        ),
      };
    }),
  );
}

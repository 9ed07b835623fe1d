import type { AgreementResult } from '@agentci/results';
import { tableLines } from './console.ts';
import { NONE } from './format.ts';

/** Formats rater agreement for a terminal. */
export function renderAgreement(result: AgreementResult): string {
  const number = (value: number | null): string => (value === null ? NONE : value.toFixed(3));
  const alpha = tableLines({
    title: "Krippendorff's α",
    columns: ['component', 'level', 'α', '95 % interval', 'ratings', 'missing'],
    rows: result.components.flatMap(({ component, alpha: levels, ratings, missing }) =>
      levels.map(({ level, alpha: value, ci95 }) => [
        component,
        level,
        number(value),
        ci95 === null ? NONE : `${number(ci95.low)} to ${number(ci95.high)}`,
        String(ratings),
        String(missing),
      ]),
    ),
    notes: [`the interval draws the ${result.items} items again and again (seed ${result.seed})`],
  });
  const kappa = tableLines({
    title: "Cohen's κ of each pair of raters",
    columns: ['component', 'raters', 'κ', 'items'],
    rows: result.components.flatMap(({ component, kappa: pairs }) =>
      pairs.map(({ a, b, kappa: value, n }) => [
        component,
        `${a} / ${b}`,
        number(value),
        String(n),
      ]),
    ),
    notes: [],
  });
  return `${[...alpha, '', ...kappa].join('\n')}\n`;
}

import { averageIntensity } from '@tgwf/co2';

const GRAMS_PER_KG = 1000;

/** Yearly average of a region's grid, from the Green Web Foundation's data set. */
export function gridIntensity(region: string): { kgPerKwh: number; source: string } | undefined {
  const data: Readonly<Record<string, number>> = averageIntensity.data;
  const grams = Object.hasOwn(data, region) ? data[region] : undefined;
  if (typeof grams !== 'number' || !Number.isFinite(grams)) return undefined;
  return { kgPerKwh: grams / GRAMS_PER_KG, source: `average of ${region}, @tgwf/co2 0.19` };
}

import type { ResourceSample, Trace } from '@agentci/trace';

const JOULES_PER_KWH = 3_600_000;
const GRAMS_PER_KG = 1000;

type Reading = 'cpuPct' | 'rssMb' | 'gpuPct' | 'joules' | 'co2g';

/** Samples of one reading. A negative value was never measured. */
const samplesOf = (
  trace: Trace | null | undefined,
  key: Reading,
): { value: number; sample: ResourceSample }[] =>
  (trace?.resources ?? []).flatMap((sample) => {
    const value = sample[key];
    return value !== undefined && Number.isFinite(value) && value >= 0 ? [{ value, sample }] : [];
  });

export interface Amount {
  readonly value: number;
  /** How the number was obtained. */
  readonly method: string;
}

const methodOf = (samples: readonly { sample: ResourceSample }[]): string =>
  samples.some(({ sample }) => sample.source === 'estimated')
    ? 'estimated by the source'
    : 'measured';

function sumOf(trace: Trace | null | undefined, key: Reading, per: number): Amount | undefined {
  const samples = samplesOf(trace, key);
  if (samples.length === 0) return undefined;
  return {
    value: samples.reduce((sum, { value }) => sum + value, 0) / per,
    method: methodOf(samples),
  };
}

/** Energy over all samples, in kWh. */
export const energyKwh = (trace: Trace | null | undefined): Amount | undefined =>
  sumOf(trace, 'joules', JOULES_PER_KWH);
/** Emissions over all samples, in kg of CO2 equivalent. */
export const carbonKg = (trace: Trace | null | undefined): Amount | undefined =>
  sumOf(trace, 'co2g', GRAMS_PER_KG);

/** Mean load, or undefined if it was never read. */
export function meanLoad(
  trace: Trace | null | undefined,
  key: 'cpuPct' | 'gpuPct',
): number | undefined {
  const samples = samplesOf(trace, key);
  return samples.length === 0
    ? undefined
    : samples.reduce((sum, { value }) => sum + value, 0) / samples.length;
}

/** Peak memory in GB. */
export function peakMemoryGb(trace: Trace | null | undefined): number | undefined {
  const samples = samplesOf(trace, 'rssMb');
  return samples.length === 0 ? undefined : Math.max(...samples.map(({ value }) => value)) / 1024;
}

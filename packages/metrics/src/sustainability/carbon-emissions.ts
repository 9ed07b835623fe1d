import { v } from '@agentci/lib/values';
import { defineMetric, type MetricInput, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { estimateEnergy, noEnergyReason } from './estimate.ts';
import { carbonKg, energyKwh } from './readings.ts';

const KM_PER_KG = 4.6;
const KG_PER_TREE_YEAR = 21;

const params = () =>
  metricParams({
    threshold_kg: v
      .number()
      .positive()
      .default(0.05)
      .describe('emissions that are still fine, in kg of CO2 equivalent'),
    grid_intensity: v
      .number()
      .min(0)
      .default(0.475)
      .describe('kg of CO2 per kWh, used when energy is known and carbon is not'),
    region: v
      .string()
      .regex(/^[A-Z]{3,}$/, 'a region is written in capital letters, as in DEU or WORLD')
      .optional()
      .describe('use the average carbon intensity of this region instead'),
    active_params_b: v
      .number()
      .positive()
      .optional()
      .describe('active parameters of the model in billions, for the estimate'),
  });
type Params = ReturnType<ReturnType<typeof params>['parse']>;

export const metric = defineMetric({
  name: 'carbon_emissions',
  group: 'sustainability',
  layer: 'cost',
  needs: ['carbon or energy readings, or output tokens of a model of known size'],
  summary: 'threshold divided by emissions; 1 if under the threshold',
  params,
  evaluate: (input) => {
    const { trace, params: given } = input;
    const carbon = carbonKg(trace);
    if (carbon !== undefined) return scored(carbon.value, given, { method: carbon.method });
    if (given.region === undefined)
      return fromEnergy(input, given, given.grid_intensity, 'grid_intensity');
    const { region } = given;
    return import('./grid-intensity.ts').then(({ gridIntensity }) => {
      const found = gridIntensity(region);
      if (found === undefined)
        return notMeasured(`no grid intensity is known for the region "${region}"`);
      return fromEnergy(input, given, found.kgPerKwh, found.source);
    });
  },
});

function fromEnergy({ trace }: MetricInput, given: Params, kgPerKwh: number, source: string) {
  const energy = energyKwh(trace) ?? estimateEnergy(trace, given.active_params_b);
  if (energy === undefined) return notMeasured(`no carbon reading, and ${noEnergyReason(trace)}`);
  return scored(energy.value * kgPerKwh, given, {
    method: `energy (${energy.method}) times grid intensity`,
    energy_kwh: energy.value,
    grid_intensity: kgPerKwh,
    grid_source: source,
  });
}

function scored(kg: number, { threshold_kg }: Params, more: Readonly<Record<string, unknown>>) {
  return measured(kg > 0 ? Math.min(1, threshold_kg / kg) : 1, {
    carbon_kg: kg,
    threshold_kg,
    under_threshold: kg <= threshold_kg,
    equivalents: { km_driven: kg * KM_PER_KG, trees_needed: kg / KG_PER_TREE_YEAR },
    ...more,
  });
}

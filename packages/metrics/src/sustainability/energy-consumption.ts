import { v } from '@agentci/lib/values';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { estimateEnergy, noEnergyReason } from './estimate.ts';
import { energyKwh } from './readings.ts';

/** Charging a phone takes about 8 Wh from the socket. */
const PHONES_PER_KWH = 121;

export const metric = defineMetric({
  name: 'energy_consumption',
  group: 'sustainability',
  layer: 'cost',
  needs: ['energy readings, or output tokens of a model of known size'],
  summary: 'threshold divided by energy used; 1 if under the threshold',
  params: () =>
    metricParams({
      threshold_kwh: v
        .number()
        .positive()
        .default(0.1)
        .describe('energy that is still fine, in kWh'),
      active_params_b: v
        .number()
        .positive()
        .optional()
        .describe('active parameters of the model in billions, for the estimate'),
    }),
  evaluate: ({ trace, params: { threshold_kwh, active_params_b } }) => {
    const energy = energyKwh(trace) ?? estimateEnergy(trace, active_params_b);
    if (energy === undefined) return notMeasured(noEnergyReason(trace));
    return measured(energy.value > 0 ? Math.min(1, threshold_kwh / energy.value) : 1, {
      energy_kwh: energy.value,
      threshold_kwh,
      under_threshold: energy.value <= threshold_kwh,
      equivalents: { smartphones_charged: energy.value * PHONES_PER_KWH },
      method: energy.method,
    });
  },
});

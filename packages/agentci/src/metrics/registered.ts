import type { Metric } from './metric.ts';

/** Metrics that were registered by a program, beside the built-in ones. Apart from them, since a name alone needs no catalogue. */
export const registered = new Map<string, Metric>();

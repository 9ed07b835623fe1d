export { decimal } from './decimal.ts';
export { formatMeasure, formatMs, formatP, formatUsd, unitFor } from './format-number.ts';
export { settledUsd } from './usd.ts';

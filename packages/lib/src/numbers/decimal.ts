/**
 * Parses a decimal number from a table cell. NaN for anything else, including JavaScript forms such
 * as `0x10`.
 */
export const decimal = (text: string): number =>
  DECIMAL.test(text.trim()) ? Number(text) : Number.NaN;

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

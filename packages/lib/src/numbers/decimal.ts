/** The number that a cell of a table says, in decimal; NaN for anything else, which JavaScript may still take for one: `0x10`. */
export const decimal = (text: string): number =>
  DECIMAL.test(text.trim()) ? Number(text) : Number.NaN;

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

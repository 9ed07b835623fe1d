/**
 * An amount with optional digit groups and decimals, in either notation, as a part of a regular
 * expression.
 */
export const AMOUNT =
  "(?:\\d{1,3}(?:[.,' ]\\d{3}){1,8}(?:[.,]\\d{1,20})?(?!\\d)|\\d{1,2}(?:,\\d{2}){1,6},\\d{3}(?:\\.\\d{1,20})?(?!\\d)|\\d{1,40}(?:[.,]\\d{1,40})?)";

/** Words that multiply the preceding amount, by power of ten. */
const SCALES: Readonly<Record<string, number>> = {
  k: 3,
  hundred: 2,
  thousand: 3,
  grand: 3,
  lakh: 5,
  lakhs: 5,
  mn: 6,
  mio: 6,
  million: 6,
  crore: 7,
  crores: 7,
  bn: 9,
  billion: 9,
};

/** Such a word or letter, as a part of a case-insensitive regular expression. */
export const SCALE = `(?:${Object.keys(SCALES).join('|')}|m)`;

/**
 * The possible values of an amount in one notation: `12.50` is 12.5 and nothing else, `1,250` is
 * 1250 or 1.25. A code with leading zeros stays unchanged.
 */
export function amountValues(text: string, suffix?: string): readonly string[] {
  const values = plainValues(text);
  if (suffix === undefined) return values;
  const power = SCALES[suffix.toLowerCase()];
  if (power !== undefined) return values.map((value) => shifted(value, power));
  // `5 m` may be meters, minutes or millions. `5M` is millions.
  const millions = values.map((value) => shifted(value, 6));
  return suffix === 'M' ? millions : [...values, ...millions];
}

function plainValues(text: string): readonly string[] {
  const plain = text.replace(/[' ]/g, '');
  if (/^0\d+$/.test(plain)) return [plain];
  const signs = plain.match(/[.,]/g) ?? [];
  const last = signs.at(-1);
  if (last === undefined) return [normalized(plain)];
  if (new Set(signs).size === 2) {
    const isOnce = signs.filter((sign) => sign === last).length === 1;
    return isOnce
      ? [normalized(plain.replaceAll(last === '.' ? ',' : '.', '').replace(',', '.'))]
      : [plain];
  }
  if (signs.length > 1) return [normalized(plain.replaceAll(last, ''))];
  const [whole = '', rest = ''] = plain.split(last);
  const decimal = normalized(`${whole}.${rest}`);
  const isGroup = rest.length === 3 && /^[1-9]\d{0,2}$/.test(whole) && plain === text;
  return isGroup ? [whole + rest, decimal] : [decimal];
}

/** A value times a power of ten. Shifts the digits, so nothing is rounded. */
export function shifted(value: string, power: number): string {
  const [whole = '', rest = ''] = value.split('.');
  const digits = whole + rest;
  const point = whole.length + power;
  if (point <= 0) return normalized(`0.${'0'.repeat(-point)}${digits}`);
  const padded = digits.padEnd(point, '0');
  return normalized(`${padded.slice(0, point)}.${padded.slice(point)}`);
}

/** `007.50` as `7.5`. */
function normalized(decimal: string): string {
  const [whole = '', rest = ''] = decimal.split('.');
  const fraction = rest.replace(/0+$/, '');
  return `${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}`;
}

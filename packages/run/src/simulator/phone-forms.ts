/** The digits of a number, and whether they begin with a country code. */
export interface Dialled {
  readonly digits: string;
  readonly isInternational: boolean;
}

/** This many digits in groups are a phone, card or account number. */
export const MIN_LOCAL = 7;
const MAX_COUNTRY = 3;

/** `+49 171 …`, `0049 171 …`, `+49 (0)171 …` and `0171 …` are equal. */
export function isSamePhone(a: Dialled, b: Dialled): boolean {
  if (a.digits === b.digits) return true;
  const [x, y] = [withoutTrunk(a), withoutTrunk(b)];
  if (x.length < MIN_LOCAL || y.length < MIN_LOCAL) return false;
  if (x === y) return true;
  const [long, short] = x.length > y.length ? [a, y] : [b, x];
  const whole = withoutTrunk(long);
  const country = whole.length - short.length;
  if (!whole.endsWith(short) || country > MAX_COUNTRY) return false;
  const other = long === a ? b : a;
  if (other.isInternational) return false;
  // Without a sign, the country code is detected by a domestic form of the same number.
  return (
    long.isInternational || other.digits.startsWith('0') || (whole.startsWith('1') && country === 1)
  );
}

const withoutTrunk = ({ digits, isInternational }: Dialled): string =>
  isInternational ? digits.replace(/^00/, '') : digits.replace(/^0/, '');

/** The digits of a number, and whether they begin with the code of a country. */
export interface Dialled {
  readonly digits: string;
  readonly isInternational: boolean;
}

/** So many digits in groups are a phone, card or account number. */
export const MIN_LOCAL = 7;
const MAX_COUNTRY = 3;

/** `+49 171 …`, `0049 171 …`, `+49 (0)171 …` and `0171 …` are one number. */
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
  // Without a sign for it, the code of a country is told by a number that leaves it out as one does at home.
  return (
    long.isInternational || other.digits.startsWith('0') || (whole.startsWith('1') && country === 1)
  );
}

const withoutTrunk = ({ digits, isInternational }: Dialled): string =>
  isInternational ? digits.replace(/^00/, '') : digits.replace(/^0/, '');

const QUOTE = 34;
const BACKSLASH = 92;
/** Doubles preserve this many significant digits. */
const SAFE_LENGTH = 15;

/**
 * A number that double precision changes, so that readers with more precision see another number.
 * The text must be valid JSON.
 */
export function findInexactNumber(text: string): string | undefined {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++)
        if (text.charCodeAt(i) === BACKSLASH) i++;
      continue;
    }
    if (c !== 45 && (c < 48 || c > 57)) continue;
    const start = i;
    while (i + 1 < text.length && IN_NUMBER.test(text[i + 1]!)) i++;
    const written = text.slice(start, i + 1);
    if ((written.length > SAFE_LENGTH || /e/i.test(written)) && !isExact(written)) return written;
  }
  return undefined;
}

const IN_NUMBER = /[\d.eE+-]/;

const isExact = (written: string): boolean => {
  const value = Number(written);
  return Number.isFinite(value) && plainForm(String(value)) === plainForm(written);
};

/** A number as significant digits and a power of ten. */
function plainForm(written: string): string {
  const [mantissa = '', power = '0'] = written.toLowerCase().replace(/^-/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  return digits === ''
    ? '0'
    : `${digits}e${Number(power) - fraction.length + all.length - digits.length}`;
}

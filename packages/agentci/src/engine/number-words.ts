const UNITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const TEENS = [
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
];
const TENS = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const SCALES: ReadonlyMap<string, number> = new Map([
  ['hundred', 100],
  ['thousand', 1000],
]);
const VALUES: ReadonlyMap<string, number> = new Map([
  ...[...UNITS, ...TEENS].map((word, i) => [word, i] as const),
  ...TENS.map((word, i) => [word, 20 + 10 * i] as const),
]);

const NUMBER = [...VALUES.keys()].join('|');

/** One number in words, as a part of a regular expression: `four`, `forty-two`, `two hundred and five`. */
export const NUMBER_WORDS = `(?:${NUMBER})(?:(?:[ -]+and)?[ -]+(?:${NUMBER}|${[...SCALES.keys()].join('|')})){0,8}(?![\\p{L}])`;

/** What such words may stand for: their value, and digits that are read out one by one. */
export function readNumberWords(text: string): readonly number[] {
  const words = text
    .toLowerCase()
    .split(/[ -]+/)
    .filter((word) => word !== 'and');
  const digits = words.map((word) => UNITS.indexOf(word));
  if (words.length > 1 && digits.every((digit) => digit >= 0)) return [Number(digits.join(''))];
  let total = 0;
  let part = 0;
  for (const word of words) {
    const scale = SCALES.get(word);
    if (scale === undefined) part += VALUES.get(word) ?? 0;
    else if (scale === 100) part *= scale;
    else {
      total += part * scale;
      part = 0;
    }
  }
  return [total + part];
}

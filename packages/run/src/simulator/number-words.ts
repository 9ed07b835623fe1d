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
  ['dozen', 12],
  ['hundred', 100],
  ['thousand', 1000],
  ['lakh', 1e5],
  ['million', 1e6],
  ['crore', 1e7],
  ['billion', 1e9],
]);
const VALUES: ReadonlyMap<string, number> = new Map([
  ...[...UNITS, ...TEENS].map((word, i) => [word, i] as const),
  ...TENS.map((word, i) => [word, 20 + 10 * i] as const),
]);

const NUMBER = [...VALUES.keys()].join('|');
const SCALE = [...SCALES.keys()].join('|');

/** One number in words, as a part of a regular expression: `four`, `forty-two`, `two hundred and five`, `a hundred`. */
export const NUMBER_WORDS = `(?:${NUMBER}|(?:half )?a(?=[ -]+(?:${SCALE})(?![\\p{L}])))(?:(?:[ -]+and)?[ -]+(?:${NUMBER}|${SCALE})){0,18}(?![\\p{L}])`;

/** The value of such words, or the number whose digits are read one by one or in pairs. */
export const readNumberWords = (text: string): string => numberWordValues(text)[0]!;

/** The possible values of such words: "twelve fifty" is 1250 or 12.50. */
export function numberWordValues(text: string): readonly [string, ...string[]] {
  const words = text
    .toLowerCase()
    .split(/[ -]+/)
    .filter((word) => word !== 'and');
  if (words.some((word) => SCALES.has(word))) return [String(scaled(words))];
  const groups: number[] = [];
  let canTakeUnit = false;
  for (const word of words) {
    const value = VALUES.get(word) ?? 0;
    if (canTakeUnit && value >= 1 && value <= 9) groups.push(groups.pop()! + value);
    else groups.push(value);
    canTakeUnit = value >= 20;
  }
  const [whole = 0, cents = 0] = groups;
  const isPrice = groups.length === 2 && cents >= 10 && cents <= 99;
  return isPrice ? [groups.join(''), `${whole}.${cents}`.replace(/0$/, '')] : [groups.join('')];
}

function scaled(words: readonly string[]): number {
  let total = 0;
  let part = 0;
  for (const word of words) {
    const scale = SCALES.get(word);
    if (scale === undefined)
      part += word === 'half' ? -0.5 : (VALUES.get(word) ?? Number(word === 'a'));
    else if (scale <= 100) part *= scale;
    else {
      total += part * scale;
      part = 0;
    }
  }
  return total + part;
}

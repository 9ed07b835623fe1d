/** An id in comparable forms. */
export interface IdForm {
  /** Lower-case letters and digits. A dot between digits stays: `1.25` is not `12.5`. */
  readonly compact: string;
  /** Positions of separators, other than between letters and digits. */
  readonly cuts: readonly number[];
  /** The part after the leading letters: `4711` of `A-4711`. */
  readonly rest?: string | undefined;
  /** The number it may be, if only dashes separate it. */
  readonly number?: string | undefined;
}

const LABEL =
  /^(?:order|ticket|account|acct|number|no|nr|id|code|pin|case|invoice|booking|reservation|room|seat|gate|flight|table|apartment|apt|customer|reference|ref|card|policy|contract|item|option)s?[._/#:-]+/i;
const MIN_REST = 2;

/** `order-42`, `order#42` and `42` are equal, and so are `AB-12` and `ab12`. */
export function idForm(shown: string): IdForm {
  const text = shown.toLowerCase().replace(LABEL, '');
  const cuts: number[] = [];
  let compact = '';
  for (const [i, sign] of [...text].entries()) {
    const before = compact.at(-1) ?? '';
    const after = text[i + 1] ?? '';
    const isDecimal = sign === '.' && /\d/.test(before) && /\d/.test(after);
    if (!/[._/#:-]/.test(sign) || isDecimal) compact += sign;
    else if (/\d/.test(before) === /\d/.test(after)) cuts.push(compact.length);
  }
  const rest = compact.replace(/^\p{L}+/u, '');
  return {
    compact,
    cuts,
    rest: rest !== compact && rest.length >= MIN_REST ? rest : undefined,
    number: /^[\d-]+$/.test(text) ? compact.replace(/^0+(?=\d)/, '') : undefined,
  };
}

/** Two ids are equal if one of them only has fewer separators. */
export function isSameId(a: IdForm, b: IdForm): boolean {
  if (a.compact !== b.compact) return false;
  return a.cuts.every((cut) => b.cuts.includes(cut)) || b.cuts.every((cut) => a.cuts.includes(cut));
}

/** POSIX classes as character sets. They are ASCII in the engines that know them. */
const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-\\x60{-~',
  space: '\\t-\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** The set that a POSIX class such as `alpha` names, without its brackets. */
export const posixSet = (name: string): string | undefined =>
  Object.hasOwn(POSIX, name) ? POSIX[name] : undefined;

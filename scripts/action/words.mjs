/**
 * Splits arguments as they would be typed: at blanks, with quotes around words that have some. Nothing else of a shell is
 * known here, so nothing an input says can start a program. Undefined when a quote is not closed.
 */
export function splitWords(text) {
  const words = [];
  let word;
  let quote;
  for (const char of text) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== undefined) return undefined;
  return word === undefined ? words : [...words, word];
}

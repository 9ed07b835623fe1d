/**
 * Splits arguments like a shell: at blanks, with quotes. Supports nothing else of a shell, so no
 * input can start a program. Undefined if a quote is not closed.
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

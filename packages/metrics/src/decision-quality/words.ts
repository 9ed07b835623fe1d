const WORD_CHARACTER = /[\p{L}\p{N}_]/u;

/** Finds a word in a lower-case text: whole, as the start of a longer word, or followed by "s". */
export function findWord(
  text: string,
  words: readonly string[],
  ending: 'whole' | 'start' | 'plural',
): string | undefined {
  for (const word of words) {
    const wanted = word.toLowerCase();
    if (wanted === '') continue;
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
      if (isWordCharacter(text[at - 1])) continue;
      const end = at + wanted.length;
      if (ending === 'start' || !isWordCharacter(text[end])) return word;
      if (ending === 'plural' && text[end] === 's' && !isWordCharacter(text[end + 1])) return word;
    }
  }
  return undefined;
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && WORD_CHARACTER.test(character);

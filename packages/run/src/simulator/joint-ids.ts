/** An id in several parts: `SW1A 1AA` for `SW1A1AA`. */
const MAX_TOKENS = 6;
const MIN_LENGTH = 5;
/** A word with its punctuation: `AB-1` and `23` in a row are not `AB12-3`. */
const TOKEN = /[\p{L}\d](?:[\p{L}\d._/#:-]*[\p{L}\d])?/gu;

/** Whether consecutive words of a text, joined, are the id. */
export function isSpelledIn(text: string, id: string): boolean {
  if (id.length < MIN_LENGTH) return false;
  const tokens = text.toLowerCase().match(TOKEN) ?? [];
  return tokens.some((token, i) => {
    let joint = token;
    for (let n = i + 1; n < i + MAX_TOKENS && joint.length < id.length && id.startsWith(joint); n++)
      joint += tokens[n] ?? '';
    return joint !== token && joint === id;
  });
}

/** Whether a part of a text, joined with its neighbors, is one of the ids. */
export function isPartOf(
  ids: ReadonlySet<string>,
  text: string,
  { at, end }: { readonly at: number; readonly end: number },
): boolean {
  if (ids.size === 0) return false;
  const tokens = [...text.toLowerCase().matchAll(TOKEN)];
  const first = tokens.findIndex(({ 0: token, index }) => index + token.length > at);
  const last = tokens.findLastIndex(({ index }) => index < end);
  for (let from = Math.max(0, last - MAX_TOKENS + 1); from <= first; from++)
    for (let to = last; to < from + MAX_TOKENS; to++) {
      const joint = tokens
        .slice(from, to + 1)
        .map(([token]) => token)
        .join('');
      if (joint.length >= MIN_LENGTH && ids.has(joint)) return true;
    }
  return false;
}

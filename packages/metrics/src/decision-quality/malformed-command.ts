const DANGLING = /(?:\||&&|<|>|\\)$/;
const FLAG_WITHOUT_VALUE = /(?:^|\s)(--?[\w-]{1,100}=)(?=\s|$)/;
const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/**
 * The problem of a command in an action, or undefined. Only text in backticks, or text that starts
 * with a command, is read as one. "… using kubectl" only mentions a command.
 */
export function malformedCommand(action: string, commands: readonly string[]): string | undefined {
  const known = new Set(commands.map((command) => command.toLowerCase()));
  const isCommand = (text: string): boolean =>
    known.has(text.trim().split(/\s+/, 1)[0]!.toLowerCase());
  const pieces = action.split('`');
  if (pieces.length % 2 === 0 && pieces.some((piece, i) => i % 2 === 1 && isCommand(piece)))
    return 'an open backtick';
  const quoted = pieces.filter((piece, i) => i % 2 === 1 && isCommand(piece));
  const candidates =
    quoted.length > 0 || pieces.length > 1 || !isCommand(action) ? quoted : [action];
  for (const command of candidates) {
    const problem = problemOf(command.trim());
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(command: string): string | undefined {
  if (!/\s/.test(command)) return `"${command}" without arguments`;
  const dangling = DANGLING.exec(command)?.[0];
  if (dangling !== undefined) return `a dangling ${dangling}`;
  const flag = FLAG_WITHOUT_VALUE.exec(command)?.[1];
  if (flag !== undefined) return `${flag} without a value`;
  return unbalanced(command);
}

function unbalanced(command: string): string | undefined {
  const open: string[] = [];
  let quote: string | undefined;
  for (const [i, character] of [...command].entries()) {
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      continue;
    }
    // An apostrophe inside a word is not a quotation mark.
    const isApostrophe =
      character === "'" && /\w/.test(command[i - 1] ?? '') && /\w/.test(command[i + 1] ?? '');
    if (character === '"' || (character === "'" && !isApostrophe)) quote = character;
    else if ('([{'.includes(character)) open.push(character);
    else if (Object.hasOwn(CLOSING, character) && open.pop() !== CLOSING[character])
      return `an unmatched ${character}`;
  }
  if (quote !== undefined) return `an open ${quote}`;
  return open.length > 0 ? `an open ${open.at(-1)}` : undefined;
}

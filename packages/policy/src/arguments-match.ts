import { isObject } from '@agentci/lib/data';
import { type Regex, RegexTimeout } from '@agentci/lib/regex';
import { visibleText } from '@agentci/lib/text';
import type { PolicyCall } from './call.ts';
import { CannotTell } from './condition-type.ts';
import { leavesOf } from './flows/carried-text.ts';
import type { Selector } from './selectors.ts';

export const NO_ARGUMENTS = 'arguments were not captured';

/** Whether the arguments of a call match a selector. */
export function argumentsMatch(
  { args = [], isWanted }: Selector,
  { args: given, argsRaw }: PolicyCall,
): boolean | CannotTell {
  // Text that is not JSON has no arguments to check. Arguments that were not recorded may be
  // anything.
  if (given === undefined) return argsRaw === undefined ? new CannotTell(NO_ARGUMENTS) : false;
  if (!isObject(given)) return false;
  try {
    let doubt: CannotTell | undefined;
    for (const { name, regex } of args) {
      const found =
        Object.hasOwn(given, name) && valueMatches(regex, given[name], name, isWanted === true);
      if (found === false) return false;
      if (found instanceof CannotTell) doubt = found;
    }
    return doubt ?? true;
  } catch (error) {
    if (!(error instanceof RegexTimeout)) throw error;
    return new CannotTell(error.message);
  }
}

/**
 * Checks the texts inside a list or map. For a forbidden call, one match is enough. For a required
 * call, one mismatch leaves it open.
 */
function valueMatches(
  regex: Regex,
  value: unknown,
  name: string,
  isWanted: boolean,
): boolean | CannotTell {
  if (value === null || value === undefined) return false;
  if (typeof value !== 'object' && (isWanted || typeof value !== 'string'))
    return isFound(regex, String(value));
  const leaves = leavesOf(value);
  if (leaves === undefined)
    return new CannotTell(`the argument "${name}" is too large to look through`);
  const count = leaves.filter((leaf) => isFound(regex, leaf)).length;
  if (isWanted)
    return count === 0 || count === leaves.length
      ? count > 0
      : new CannotTell(`only some of the texts in the argument "${name}" match`);
  // A command may be split into parts: ["rm", "-rf"].
  return count > 0 || isFound(regex, leaves.join(' '));
}

const isFound = (regex: Regex, text: string): boolean => {
  if (regex.test(text)) return true;
  const seen = visibleText(text);
  return seen !== text && regex.test(seen);
};

import { foldText, visibleName, visibleText } from '@agentci/lib/text';
import { leavesOf } from '../flows/carried-text.ts';
import { type ListedTool, type PinnedTools, pinOf } from './pinned-tools.ts';

interface DefinitionChecks {
  readonly pinned: PinnedTools | undefined;
  readonly hidden_instructions: boolean;
  readonly shadowing: boolean;
}

/** The problem in the definition of a tool. Undefined if there is none. */
export function definitionFlaw(
  tool: ListedTool,
  all: readonly ListedTool[],
  { pinned, hidden_instructions, shadowing }: DefinitionChecks,
): string | undefined {
  if (pinned !== undefined) {
    const pin = pinned.get(tool.name);
    if (pin === undefined) return 'the tool is not in the pinned list';
    const now = pinOf(tool);
    if (now.description !== pin.description)
      return 'the description has changed since it was pinned';
    if (now.schema !== pin.schema) return 'the schema has changed since it was pinned';
    if (tool.more !== undefined && now.more !== pin.more)
      return 'the title, the annotations or the schema of results have changed since they were pinned';
  }
  if (hidden_instructions && hasHiddenInstructions(tool))
    return 'the definition has instructions a user does not see';
  if (shadowing && isShadowed(tool, all)) return 'another tool has a name that looks the same';
  return undefined;
}

/** Invisible characters, except those that join emoji. */
const INVISIBLE = /[\u200b\u200c\u2060-\u2064\u202a-\u202e\u2066-\u2069\u00ad\u{e0000}-\u{e007f}]/u;
/**
 * Instructions to a model that a description does not need. All patterns are linear: no unbounded
 * repetition.
 */
const INSTRUCTIONS: readonly RegExp[] = [
  /<!--/,
  /<\/?\s{0,5}(?:important|system|instructions?|secret|hidden|admin|override)\b/i,
  /\b(?:ignore|disregard|forget|override)\b.{0,20}\b(?:previous|prior|above|earlier|other|all)\b.{0,20}\b(?:instructions?|prompts?|rules|tools?)\b/i,
  /\b(?:do not|don't|never|without)\b.{0,12}\b(?:tell|telling|mention|mentioning|inform|informing|reveal|notify|notifying|show|showing|alert)\b.{0,20}\buser/i,
  /\b(?:before|after|when|whenever)\b.{0,20}\b(?:using|calling|invoking|use|call|invoke)\b.{0,30}\b(?:must|always|first)\b.{0,20}\b(?:read|send|call|include|pass|forward|upload|append)\b/i,
  /\bsystem prompt\b/i,
  /(?:~|\/home\/\w{1,32}|\/root)\/\.(?:ssh|aws|config|cursor|netrc)|\bid_(?:rsa|ed25519)\b/i,
];

/** Only whole sentences, because a name may be `system_prompt`. */
const SENTENCES = INSTRUCTIONS.slice(2, 5);

function hasHiddenInstructions({ name, description = '', schema, more }: ListedTool): boolean {
  const texts = leavesOf([name, description, schema ?? null, more ?? null]);
  // Too large to check means suspicious.
  if (texts === undefined) return true;
  return texts.some((text) => {
    const seen = visibleText(text);
    if (INVISIBLE.test(text) || INSTRUCTIONS.some((pattern) => pattern.test(seen))) return true;
    return NAME.test(seen) && SENTENCES.some((pattern) => pattern.test(wordsIn(seen)));
  });
}

const NAME = /^[\w$.-]+$/;

/** The words of a name, split at punctuation and capital letters. */
const wordsIn = (name: string): string =>
  name.replace(/[_$.-]+/g, ' ').replace(/([a-z])([A-Z])/g, '$1 $2');

/** Maps confusable letters and separators to the same form. */
const looks = (name: string): string =>
  foldText(visibleName(name))
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .replaceAll('0', 'o')
    .replace(/[1|]/g, 'l')
    .replace(/[а-яё]/gu, (letter) => CYRILLIC[letter] ?? letter);

const CYRILLIC: Readonly<Record<string, string>> = {
  а: 'a',
  в: 'b',
  с: 'c',
  е: 'e',
  н: 'h',
  і: 'i',
  к: 'k',
  м: 'm',
  о: 'o',
  р: 'p',
  т: 't',
  у: 'y',
  х: 'x',
};

function isShadowed(tool: ListedTool, all: readonly ListedTool[]): boolean {
  const own = looks(tool.name);
  return all.some((other) => other !== tool && looks(other.name) === own);
}

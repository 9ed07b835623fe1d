import type { BrokenDocument, FoundDocuments } from '@agentci/lib/json';
import { SIMPLE_KEYS } from '@agentci/trace';

/** Keys that only a recording has. */
const SURE_KEYS: ReadonlySet<string> = new Set(['tool_calls', 'llm_calls', 'handoffs']);

/**
 * Whether an object with these keys must be a recording in the simple form, or an AgentCI trace.
 */
export function isSureRecording(keys: readonly string[]): boolean {
  const known = new Set(keys.filter((key) => SIMPLE_KEYS.has(key)));
  return (
    keys.some((key) => SURE_KEYS.has(key)) ||
    (known.size > 1 && (known.has('answer') || known.has('final_answer')))
  );
}

/**
 * The reason why a recording in the output is unreadable: it is truncated, contains values outside
 * JSON, or is a printed object instead of JSON. Its text must not count as the answer.
 */
export function whyBrokenRecording(text: string, { broken }: FoundDocuments): string | undefined {
  for (const document of broken) {
    const { start, end } = document;
    const isPython = /^\{\s*'/.test(text.slice(start, start + 50));
    const keys = isPython ? pythonKeys(text.slice(start)) : keysIn(text.slice(start, end + 1));
    if (isBrokenRecording(keys, document, text)) {
      if (document.isEnd)
        return 'gave JSON that is cut off: it ends before the object or list does';
      const at = text.slice(document.end, document.end + 20).split(/[\s,}\]]/)[0];
      return `gave a recording that is not JSON: ${JSON.stringify(at)} at character ${document.end + 1}`;
    }
  }
  return undefined;
}

/** Values that Python and JavaScript print in place of JSON. */
const NO_JSON_VALUE =
  /^(?:-?Infinity|NaN|nan|None|True|False|undefined|datetime\b|Decimal\b|inf\b)/;

function isBrokenRecording(
  keys: readonly string[],
  { end, isInline, isEnd }: BrokenDocument,
  text: string,
): boolean {
  const [first] = keys;
  if (first === undefined || !(first === 'schema' || SIMPLE_KEYS.has(first))) return false;
  if (isSureRecording(keys)) return true;
  return !isInline && (isEnd || NO_JSON_VALUE.test(text.slice(end, end + 20)));
}

const MAX_KEYS = 50;

const keysIn = (text: string): string[] =>
  [...text.slice(0, 100_000).matchAll(/["'](\w{1,40})["']\s*:/g)]
    .slice(0, MAX_KEYS)
    .map(([, key]) => key!);

/** A Python dict. JSON cannot parse its keys. */
const pythonKeys = (text: string): string[] =>
  [...text.slice(0, 100_000).matchAll(/'(\w{1,40})'\s*:/g)]
    .slice(0, MAX_KEYS)
    .map(([, key]) => key!);

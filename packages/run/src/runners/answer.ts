import { isDataStreamText } from '@agentci/formats';
import { type FoundDocuments, findDocuments, findJsonError } from '@agentci/lib/json';
import { isVisible } from '@agentci/lib/text';
import { whyBrokenRecording } from './broken-recording.ts';

export interface AnswerRule {
  /** The answer of the agent may be an error object: `accept_errors` in the spec. */
  readonly acceptsErrors?: boolean | undefined;
}

/**
 * The reason why an output is not an answer, as a phrase after "the agent" or "the command".
 * Undefined if it may be one. All runners use the same rule: no visible text, `null`, `{}`, an HTML
 * page, truncated JSON, an error object, raw server-sent events. Inside `{"answer": …}` a page or
 * an empty object is still an answer.
 */
export function whyNoAnswer(
  value: unknown,
  { acceptsErrors = false }: AnswerRule = {},
): string | undefined {
  if (value === undefined || value === null) return `gave ${value}`;
  if (typeof value === 'string') return whyNoText(value, acceptsErrors);
  if (typeof value !== 'object') return undefined;
  if (isEmptyObject(value)) return 'gave an empty object; as an answer it is {"answer": {}}';
  return acceptsErrors ? undefined : errorIn(value);
}

/** Output of programs without an answer. */
const NOTHING: ReadonlySet<string> = new Set(['null', 'undefined', '[object Object]']);

function whyNoText(text: string, acceptsErrors: boolean): string | undefined {
  if (!isVisible(text))
    return text.trim() === '' ? 'gave an empty answer' : 'gave nothing but invisible characters';
  const trimmed = text.trim();
  if (NOTHING.has(trimmed)) return `gave ${trimmed}`;
  if (isHtmlPage(trimmed)) return `gave an HTML page instead of an answer${titleOf(trimmed)}`;
  if (isEventStream(trimmed)) return 'gave raw server-sent events instead of an answer';
  if (isDataStreamText(trimmed))
    return 'gave the raw data stream of the AI SDK instead of an answer';
  const parsed = /^[{["]/.test(trimmed) ? parse(trimmed) : undefined;
  if (parsed === undefined) return whyNoWords(trimmed, acceptsErrors);
  if (typeof parsed.value === 'string')
    return isVisible(parsed.value) ? undefined : 'gave an empty JSON string';
  return whyNoAnswer(parsed.value, { acceptsErrors });
}

/** Text, with or without JSON in it. */
function whyNoWords(text: string, acceptsErrors: boolean): string | undefined {
  const lastLine = text.slice(text.lastIndexOf('\n') + 1).trim();
  if (NOTHING.has(lastLine) && !isIntroduced(text, text.length - lastLine.length))
    return `gave ${lastLine} after other lines`;
  if (!MAY_HOLD_JSON.test(text)) return undefined;
  if (/^[{[]/.test(text) && isCutJson(text)) return CUT;
  const found = findDocuments(text);
  return whyBrokenRecording(text, found) ?? whyNoDocument(text, found, acceptsErrors);
}

const MAY_HOLD_JSON = /^[ \t]*[{[]|\{\s*["']/m;

/**
 * Among log lines the last document is the output. The same holds for a single document at the
 * start of the output.
 */
function whyNoDocument(
  text: string,
  { documents }: FoundDocuments,
  acceptsErrors: boolean,
): string | undefined {
  const last = documents.at(-1);
  if (last === undefined || last.isInline) return undefined;
  const isGiven = last.end >= text.length || (documents.length === 1 && last.start === 0);
  if (!isGiven || isIntroduced(text, last.start)) return undefined;
  const value = parse(text.slice(last.start, last.end))?.value;
  return whyNoAnswer(value, { acceptsErrors });
}

/** "The API returns:" introduces a quotation. */
const isIntroduced = (text: string, at: number): boolean =>
  /[:：]\s*$/.test(text.slice(Math.max(0, at - 200), at));

const CUT = 'gave JSON that is cut off: it ends before the object or list does';

/** Consecutive documents, as in JSON lines, with a truncated last one. */
function isCutJson(text: string): boolean {
  for (let rest = text; /^[{[]/.test(rest); ) {
    const error = findJsonError(rest);
    if (error === undefined) return false;
    if (error.isEnd) return true;
    const isNext =
      /^[{[]/.test(rest.slice(error.offset)) && parse(rest.slice(0, error.offset)) !== undefined;
    if (!isNext) return false;
    rest = rest.slice(error.offset);
  }
  return false;
}

const PROLOG = /^(?:\s+|<!--[\s\S]*?-->|<\?xml[^>]*>)+/;
const withoutProlog = (text: string): string => text.replace(PROLOG, '');

/**
 * A page, complete or truncated. A sentence that begins with a tag, such as "<html> is the root",
 * is text.
 */
function isHtmlPage(text: string): boolean {
  const head = withoutProlog(text);
  const opening = /^<(?:!doctype\s+html\b|html(?=[\s>]|$))[^>]*(?:>|$)/i.exec(head)?.[0];
  if (opening === undefined) return false;
  const rest = withoutProlog(head.slice(opening.length));
  return rest === '' || /^<[!a-z/]/i.test(rest) || /<\/html>\s*$/i.test(rest);
}

function titleOf(page: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(page)?.[1]?.trim();
  return title ? `: "${title.slice(0, 100)}"` : '';
}

const FRAME = /^(?:data|event|id|retry)(?::|$)|^:/;

/**
 * Every line is a field of an event, at least one of them is data, and something rules out prose:
 * JSON or an end mark as data, another field, or the blank line after an event.
 */
export function isEventStream(text: string): boolean {
  if (!FRAME.test(text)) return false;
  const lines = text.split(/\r\n|\r|\n/);
  if (!lines.every((line) => line === '' || FRAME.test(line))) return false;
  const data = lines.filter((line) => line.startsWith('data:'));
  const isMarked =
    data.length < lines.length || data.some((line) => /^data: ?(?:[{["]|\[DONE\])/.test(line));
  return data.length > 0 && isMarked;
}

/** Fields that may hold the answer of an agent. */
const SAID = [
  'answer',
  'output',
  'outputs',
  'result',
  'results',
  'response',
  'reply',
  'text',
  'content',
  'completion',
  'final',
  'final_answer',
  'data',
  'choices',
  'candidates',
  'messages',
  'steps',
  'spans',
  'tool_calls',
  'llm_calls',
  'events',
];

/**
 * An object with an error and without an answer, or a list of such objects, as Gemini sends its
 * errors.
 */
export function errorIn(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const [first, ...rest] = value.map(errorIn);
    return first !== undefined && rest.every((reason) => reason !== undefined) ? first : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  const error = [fields.error, fields.errors].find(isSetError);
  if (error === undefined || SAID.some((key) => holdsSomething(fields[key]))) return undefined;
  return `gave an error instead of an answer: ${describe(error)}`;
}

/**
 * JavaScript serializes an Error as `{"error": {}}`. The values `false`, `0`, `""` and `[]` mean
 * that there was none.
 */
export const isSetError = (error: unknown): boolean =>
  Boolean(error) && !(Array.isArray(error) && error.length === 0);

function holdsSomething(said: unknown): boolean {
  if (said === undefined || said === null) return false;
  if (typeof said === 'string') return isVisible(said);
  if (Array.isArray(said)) return said.some(holdsSomething);
  if (typeof said === 'object') return Object.values(said).some(holdsSomething);
  return true;
}

const MAX_DESCRIBED = 300;

function describe(error: unknown): string {
  const [first] = Array.isArray(error) ? error : [error];
  const message =
    typeof first === 'object' && first !== null ? (first as { message?: unknown }).message : first;
  return (typeof message === 'string' ? message : (JSON.stringify(first) ?? '')).slice(
    0,
    MAX_DESCRIBED,
  );
}

const isEmptyObject = (value: object): boolean =>
  !Array.isArray(value) && Object.keys(value).length === 0;

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

import { duplicateKeyIn } from '@agentci/lib/json';
import { VERDICT_LABELS, type Verdict, type VerdictLabel } from './port.ts';

export interface VerdictError {
  readonly error: true;
  readonly message: string;
}

const MAX_REPLY = 64 * 1024;
const MAX_RATIONALE = 4000;
/** Limits the work on replies full of opening braces. */
const MAX_STARTS = 50;

/**
 * Reads the verdict from a judge's reply: plain JSON, fenced, or after a preamble. Only a complete verdict object at the end of
 * the reply counts, because an earlier one may be a quote. Two that disagree are an error: the answer may have planted one.
 */
export function parseVerdict(text: string): Verdict | VerdictError {
  if (text.trim() === '') return failed('the reply is empty');
  if (text.length > MAX_REPLY) return failed(`the reply is longer than ${MAX_REPLY} characters`);
  let found: Verdict | undefined;
  let why = 'the reply has no complete JSON object';
  for (const source of jsonObjects(text)) {
    const verdict = readVerdict(source);
    if ('error' in verdict) {
      why = verdict.message;
      continue;
    }
    if (found !== undefined && (found.score !== verdict.score || found.label !== verdict.label))
      return failed('the reply holds two verdicts that disagree');
    found = verdict;
  }
  if (found !== undefined && !/\}\s*(?:```|~~~)?\s*$/.test(text))
    return failed('the reply continues after its verdict, so the verdict may be a quote');
  return found ?? failed(why);
}

const failed = (message: string): VerdictError => ({ error: true, message });

function readVerdict(source: string): Verdict | VerdictError {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return failed('the reply is not valid JSON');
  }
  const twice = duplicateKeyIn(source, value);
  if (twice !== undefined) return failed(`${JSON.stringify(twice.key)} is given twice`);
  const field = (name: string): unknown =>
    Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
  const score = field('score');
  const label = field('label');
  const rationale = field('rationale');
  if (typeof score !== 'number' || !Number.isInteger(score) || score < 1 || score > 5)
    return failed('"score" must be a whole number from 1 to 5');
  if (!VERDICT_LABELS.includes(label as VerdictLabel))
    return failed('"label" must be "pass", "borderline" or "fail"');
  if (typeof rationale !== 'string' || rationale.trim() === '')
    return failed('"rationale" must be text');
  return { rationale: rationale.slice(0, MAX_RATIONALE), score, label: label as VerdictLabel };
}

/** The outermost balanced `{…}` objects of a text, in order. */
function* jsonObjects(text: string): Generator<string> {
  let from = 0;
  for (let starts = 0; starts < MAX_STARTS; starts++) {
    const start = text.indexOf('{', from);
    if (start < 0) return;
    const end = objectEnd(text, start);
    if (end !== undefined) yield text.slice(start, end);
    from = end ?? start + 1;
  }
}

function objectEnd(text: string, start: number): number | undefined {
  let depth = 0;
  let inText = false;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (inText) {
      if (char === '\\') i++;
      else if (char === '"') inText = false;
    } else if (char === '"') inText = true;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return i + 1;
  }
  return undefined;
}

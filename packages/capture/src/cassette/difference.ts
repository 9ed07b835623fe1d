import { canonicalJson, isObject } from '@agentci/lib/data';
import { isExactNumber } from '@agentci/lib/json';
import type { Canonical } from './canonical.ts';

/** Categories of differences between a request and its recording. */
export type DriftCause =
  | 'endpoint'
  | 'model'
  | 'system prompt'
  | 'tools'
  | 'user message'
  | 'earlier turn'
  | 'parameters'
  | 'repeat';

export interface Difference {
  readonly cause: DriftCause;
  /** JSON pointer into the body. Absent if the address differs. */
  readonly pointer?: string;
  readonly recorded: unknown;
  readonly asked: unknown;
}

const SYSTEM_FIELDS = [
  'system',
  'instructions',
  'systemInstruction',
  'system_instruction',
  'preamble',
];
const TOOL_FIELDS = ['tools', 'toolConfig', 'functions'];
const TURN_FIELDS = ['messages', 'input', 'contents', 'prompt', 'chat_history', 'message'];
const MODEL_FIELDS = ['model', 'modelId'];

type Body = Readonly<Record<string, unknown>>;

/**
 * All differences between two requests, one per cause, most informative first. Empty if they are
 * equal.
 */
export function differences(recorded: Canonical, asked: Canonical): readonly Difference[] {
  const found: Difference[] = [];
  if (recorded.place !== asked.place) {
    const isModel = withoutModel(recorded.place) === withoutModel(asked.place);
    found.push({
      cause: isModel ? 'model' : 'endpoint',
      recorded: recorded.place,
      asked: asked.place,
    });
  }
  if (!isObject(recorded.body) || !isObject(asked.body)) {
    const other = firstDifference(recorded.body, asked.body, '');
    return other === undefined ? found : [...found, { cause: 'parameters', ...other }];
  }
  const [before, now] = [recorded.body, asked.body];
  const among = (fields: readonly string[], cause: DriftCause): void => {
    for (const field of fields) {
      const difference = firstDifference(before[field], now[field], `/${escapeStep(field)}`);
      if (difference === undefined) continue;
      found.push({ cause, ...difference });
      return;
    }
  };
  among(MODEL_FIELDS, 'model');
  among(SYSTEM_FIELDS, 'system prompt');
  if (!found.some(({ cause }) => cause === 'system prompt'))
    found.push(...systemTurns(before, now));
  among(TOOL_FIELDS, 'tools');
  for (const field of TURN_FIELDS) {
    const difference = firstDifference(turnsOf(before[field]), turnsOf(now[field]), `/${field}`);
    if (difference === undefined) continue;
    const isLast = [before[field], now[field]].every((turns) =>
      isLastWord(turns, difference.pointer),
    );
    found.push({
      cause: isLast && field !== 'chat_history' ? 'user message' : 'earlier turn',
      ...difference,
    });
    break;
  }
  const known = new Set([...MODEL_FIELDS, ...SYSTEM_FIELDS, ...TOOL_FIELDS, ...TURN_FIELDS]);
  among(
    [...new Set([...Object.keys(before), ...Object.keys(now)])]
      .filter((field) => !known.has(field))
      .sort(),
    'parameters',
  );
  return found;
}

/** Gemini and Bedrock name the model in the path. */
const withoutModel = (place: string): string =>
  place.replace(/(\/models?\/|\/deployments\/)[^/:]+(?:%3A[^/:]*|:\d+)?/i, '$1*');

const isSystem = (turn: unknown): boolean =>
  isObject(turn) && (turn.role === 'system' || turn.role === 'developer');

/** Chat requests have the system prompt in their messages. */
function systemTurns(before: Body, now: Body): Difference[] {
  for (const field of ['messages', 'input']) {
    const [a, b] = [before[field], now[field]].map((turns) => (Array.isArray(turns) ? turns : []));
    for (let i = 0; i < Math.max(a!.length, b!.length); i++) {
      if (!isSystem(a![i]) && !isSystem(b![i])) continue;
      const difference = firstDifference(a![i], b![i], `/${field}/${i}`);
      if (difference !== undefined) return [{ cause: 'system prompt', ...difference }];
    }
  }
  return [];
}

/** Messages without system prompts, which have a separate cause. */
const turnsOf = (turns: unknown): unknown =>
  Array.isArray(turns) ? turns.map((turn) => (isSystem(turn) ? { role: 'system' } : turn)) : turns;

/**
 * Whether the path is in the last user message: a plain text, or a turn without a following answer.
 */
function isLastWord(turns: unknown, pointer: string): boolean {
  if (!Array.isArray(turns)) return typeof turns === 'string';
  const place = Number(pointer.split('/')[2]);
  return place < turns.length && turns.slice(place).every(isUsers);
}

/** Tool results are in user messages too. */
function isUsers(turn: unknown): boolean {
  if (!isObject(turn) || (turn.role ?? 'user') !== 'user' || (turn.type ?? 'message') !== 'message')
    return false;
  const parts = [turn.content, turn.parts].flat();
  return !parts.some(
    (part) =>
      isObject(part) &&
      (part.type === 'tool_result' || 'toolResult' in part || 'functionResponse' in part),
  );
}

/** The similarity of two requests. Higher is more similar. */
export function likeness(recorded: Canonical, asked: Canonical): number {
  let score: number;
  if (recorded.place === asked.place) score = 100;
  else if (withoutModel(recorded.place) === withoutModel(asked.place)) score = 50;
  else score = 0;
  if (!isObject(recorded.body) || !isObject(asked.body)) return score;
  const [before, now] = [recorded.body, asked.body];
  for (const field of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const [a, b] = [before[field], now[field]];
    if (Array.isArray(a) && Array.isArray(b) && TURN_FIELDS.includes(field))
      score += 40 * sharedTurns(a, b);
    else if (canonicalJson(a) === canonicalJson(b)) score += 2;
  }
  return score;
}

/**
 * The share of equal turns. An early change must not make a much shorter conversation look more
 * similar.
 */
function sharedTurns(a: readonly unknown[], b: readonly unknown[]): number {
  const length = Math.max(a.length, b.length);
  let same = 0;
  for (let i = 0; i < Math.min(a.length, b.length); i++)
    if (canonicalJson(a[i]) === canonicalJson(b[i])) same++;
  return length === 0 ? 1 : same / length - Math.abs(a.length - b.length) / (2 * length);
}

type Place = Pick<Difference, 'recorded' | 'asked'> & { readonly pointer: string };

/** The first path, in the order of the recorded value, at which two values differ. */
function firstDifference(recorded: unknown, asked: unknown, pointer: string): Place | undefined {
  if (Array.isArray(recorded) && Array.isArray(asked)) {
    for (let i = 0; i < Math.max(recorded.length, asked.length); i++) {
      if (i >= recorded.length || i >= asked.length)
        return { pointer: `${pointer}/${i}`, recorded: recorded[i], asked: asked[i] };
      const inner = firstDifference(recorded[i], asked[i], `${pointer}/${i}`);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }
  if (isObject(recorded) && isObject(asked) && !isExactNumber(recorded) && !isExactNumber(asked)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(asked)])) {
      const inner = firstDifference(recorded[key], asked[key], `${pointer}/${escapeStep(key)}`);
      if (inner !== undefined) return inner;
    }
    return undefined;
  }
  // A null field differs from an absent one, although both are serialized alike.
  const isSame =
    (recorded === undefined) === (asked === undefined) &&
    canonicalJson(recorded) === canonicalJson(asked);
  return isSame ? undefined : { pointer, recorded, asked };
}

const escapeStep = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

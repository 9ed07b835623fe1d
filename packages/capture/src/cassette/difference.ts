import { canonicalJson, isObject } from '@agentci/lib/data';
import { isExactNumber } from '@agentci/lib/json';
import type { Canonical } from './canonical.ts';

/** What about a request is not as recorded. */
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
  /** JSON pointer into the body; absent where the address differs. */
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

/** All differences of two requests, one for each cause, the most telling first. Empty where they are the same. */
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

/** Chat requests carry the system prompt among their turns. */
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

/** The turns with system prompts blanked: those have a cause of their own. */
const turnsOf = (turns: unknown): unknown =>
  Array.isArray(turns) ? turns.map((turn) => (isSystem(turn) ? { role: 'system' } : turn)) : turns;

/** Whether the place is in what the user says last: a text alone, or a turn that no answer follows. */
function isLastWord(turns: unknown, pointer: string): boolean {
  if (!Array.isArray(turns)) return typeof turns === 'string';
  const place = Number(pointer.split('/')[2]);
  return place < turns.length && turns.slice(place).every(isUsers);
}

/** Results of tools come in turns of users too. */
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

/** How much of the one is in the other: higher is nearer. */
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

/** The share of turns that are the same. A changed one early must not make a much shorter conversation look nearer. */
function sharedTurns(a: readonly unknown[], b: readonly unknown[]): number {
  const length = Math.max(a.length, b.length);
  let same = 0;
  for (let i = 0; i < Math.min(a.length, b.length); i++)
    if (canonicalJson(a[i]) === canonicalJson(b[i])) same++;
  return length === 0 ? 1 : same / length - Math.abs(a.length - b.length) / (2 * length);
}

type Place = Pick<Difference, 'recorded' | 'asked'> & { readonly pointer: string };

/** The first place, in the order of the recorded value, at which two values differ. */
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
  // A field that is null is not one that is absent, though both are written alike.
  const isSame =
    (recorded === undefined) === (asked === undefined) &&
    canonicalJson(recorded) === canonicalJson(asked);
  return isSame ? undefined : { pointer, recorded, asked };
}

const escapeStep = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

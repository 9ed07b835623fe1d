import { jsonProblem, MAX_JSON_DEPTH } from '@agentci/lib/json';
import { didYouMean } from '@agentci/lib/text';
import { nothingCaptured } from './captured.ts';
import { driftWarnings } from './drift.ts';
import { failureOf } from './failure.ts';
import {
  type Fields,
  isFields,
  isGiven,
  objectAt,
  optionalAmount,
  optionalText,
  refuse,
} from './fields.ts';
import { FINISH_KEYS, finishOf } from './finish.ts';
import { holdsCallList, mayHoldCalls } from './hidden-calls.ts';
import {
  type Captured,
  type ConversationEnding,
  ENDINGS,
  TRACE_SCHEMA,
  type Trace,
  type TraceSource,
} from './model.ts';
import { addMultiAgent, agentsIn, resourcesOf } from './multi-agent.ts';
import { addLlmCalls, addToolCalls, usageOf } from './simple-calls.ts';
import { StepList } from './step-list.ts';
import { TraceError, type TraceIssue } from './trace-error.ts';
import { joinTurns } from './turns.ts';

/** Names from AgentCI 2.0's traces, read if the simple form's name is absent. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['final_answer', 'answer'],
  ['input_query', 'query'],
  ['total_cost', 'cost_usd'],
  ['total_cost_usd', 'cost_usd'],
  ['total_latency_ms', 'latency_ms'],
  ['llm_call_count', 'llm_calls'],
  ['total_llm_calls', 'llm_calls'],
]);

/** The keys of the simple form. Any other top-level key is reported as a warning. */
export const SIMPLE_KEYS: ReadonlySet<string> = new Set([
  ...ALIASES.keys(),
  'id',
  'query_id',
  'query',
  'answer',
  'tool_calls',
  'llm_calls',
  'handoffs',
  'context',
  'cost_usd',
  'total_tokens',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'latency_ms',
  'model',
  'metadata',
  'interactions',
  'conflicts',
  'agent_roles',
  'resources',
  'turns',
  'ending',
  'status',
  'error',
  ...FINISH_KEYS,
]);

/**
 * Source of a record: `file`, its first line, and its position among the records of the file, from
 * 1.
 */
export interface RecordPlace {
  readonly file?: string;
  readonly line?: number;
  readonly index?: number;
}

/**
 * Reads the simple form or a plain text answer into a trace. Throws a `TraceError` with the path of
 * a bad field. An absent key was not captured; an empty list was captured and is empty.
 */
export function simpleTrace(input: unknown, place: RecordPlace = {}): Trace {
  // Recordings on disk are checked while they are read, but a value from a program may be cyclic.
  const problem = jsonProblem(input);
  if (problem === 'too-deep')
    throw unstorable(`is nested deeper than ${MAX_JSON_DEPTH} levels, or contains itself`);
  if (problem === 'too-large') throw unstorable('has too many values');
  if (problem === 'not-json') throw unstorable('holds a value that JSON cannot express');
  return build(input, place);
}

const unstorable = (what: string): TraceError =>
  new TraceError({ code: 'TRACE_DAMAGED', message: `the record ${what}`, path: '' });

/** `simpleTrace` for records from a file: returns a bad record as a value instead of throwing. */
export function parseSimple(
  input: unknown,
  place: RecordPlace = {},
):
  | { readonly ok: true; readonly trace: Trace }
  | { readonly ok: false; readonly issue: TraceIssue } {
  try {
    return { ok: true, trace: build(input, place) };
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    return { ok: false, issue: { code: error.code, message: error.message, path: error.path } };
  }
}

function build(input: unknown, place: RecordPlace): Trace {
  if (typeof input === 'string') return fromFields({ answer: input }, place);
  if (!isFields(input)) return refuse('', 'an object in the simple form, or a text answer', input);
  if (isGiven(input.turns)) return fromTurns(input, place);
  const trace = fromFields(input, place);
  if (!isGiven(input.ending)) return trace;
  const message = optionalText(input.query, 'query') ?? '';
  const { final } = trace;
  const turn = { turn: 1, message, final };
  const steps = trace.steps.map((step) => ({ ...step, userTurn: 1 }));
  return { ...trace, steps, conversation: { ending: endingAt(input.ending), turns: [turn] } };
}

const endingAt = (value: unknown): ConversationEnding =>
  ENDINGS.find((each) => each === value) ?? refuse('ending', `one of ${ENDINGS.join(', ')}`, value);

/** A conversation: each turn has the user's message and the agent's reply in the simple form. */
function fromTurns({ turns, ending, ...whole }: Fields, place: RecordPlace): Trace {
  if (!Array.isArray(turns) || turns.length === 0) return refuse('turns', 'a list of turns', turns);
  const runs = turns.map((item: unknown, i) => {
    const { user, ...said } = objectAt(item, `turns[${i}]`);
    if (typeof user !== 'string') return refuse(`turns[${i}].user`, 'the text of the user', user);
    return { message: user, trace: fromFields({ ...said, query: user }, place) };
  });
  const joined = joinTurns(runs, isGiven(ending) ? { ending: endingAt(ending) } : {}, {
    areApart: true,
  });
  const told = fromFields({ metadata: {}, ...whole }, place);
  if (told.steps.length > 0)
    return refuse(
      'turns',
      'what all steps are in: a call belongs to the turn it was made in',
      turns,
    );
  const { final, reported, error } = told;
  const last = joined.conversation?.turns.at(-1)?.final;
  if (final !== undefined && last !== undefined && JSON.stringify(final) !== JSON.stringify(last))
    return refuse(
      'answer',
      'what the last turn answered, or left out: it is the answer of the conversation',
      whole.answer,
    );
  return {
    ...joined,
    id: told.id,
    task: { ...joined.task, id: told.task?.id ?? joined.task?.id },
    meta: { ...joined.meta, ...told.meta },
    final: final ?? joined.final,
    captured: final === undefined ? joined.captured : { ...joined.captured, final: 'full' },
    reported: reported === undefined ? joined.reported : { ...joined.reported, ...reported },
    error: error ?? joined.error,
    status: told.status === 'unknown' ? joined.status : told.status,
    warnings: [...told.warnings, ...joined.warnings],
  };
}

const MAX_WARNINGS = 20;
/** Keys that count calls, which contradict an empty list. */
const CALL_COUNT = /^(?:num_?|total_?)?tool_?calls?(?:_?count)?$/i;

/** Earlier suggestions by key set, because every record of a file has the same unknown key. */
const guesses = new Map<ReadonlySet<string>, Map<string, string | undefined>>();
const MAX_GUESSES = 256;

function meantBy(key: string, keys: ReadonlySet<string>): string | undefined {
  if (key.length > 64) return undefined;
  const known = guesses.get(keys) ?? new Map<string, string | undefined>();
  guesses.set(keys, known);
  if (known.has(key)) return known.get(key);
  const meant = didYouMean(key, keys);
  if (known.size < MAX_GUESSES) known.set(key, meant);
  return meant;
}

const mayHideCalls = ({ metadata, answer, handoffs }: Fields): boolean =>
  holdsCallList(metadata) || holdsCallList(answer) || holdsCallList(handoffs, 3);

function unknownKeyWarning(
  key: string,
  path: string,
  keys: ReadonlySet<string>,
): Trace['warnings'][number] {
  const meant = meantBy(key, keys);
  const shown = JSON.stringify(key.slice(0, 64));
  return {
    code: 'SIMPLE_UNKNOWN_KEY',
    message: `${path === '' ? 'the simple form' : `"${path}"`} has no key ${shown}${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
  };
}

function unknownFormat(fields: Fields): TraceError {
  const keys = Object.keys(fields)
    .slice(0, 5)
    .map((key) => JSON.stringify(key.slice(0, 64)));
  return new TraceError({
    code: 'TRACE_UNKNOWN_FORMAT',
    message: `the record has no key of the simple form (${keys.length === 0 ? 'it is empty' : `it has ${keys.join(', ')}`})`,
    path: '',
  });
}

function fromFields(written: Fields, place: RecordPlace): Trace {
  const fields = withOwnNames(written);
  const warnings: Trace['warnings'] = [];
  let known = 0;
  let hidesCalls = false;
  const note = (key: string, path: string, keys: ReadonlySet<string>, value: unknown): void => {
    hidesCalls ||=
      mayHoldCalls(key, value) || (typeof value === 'number' && value > 0 && CALL_COUNT.test(key));
    if (warnings.length >= MAX_WARNINGS) return;
    warnings.push(unknownKeyWarning(key, path, keys));
  };
  for (const key in fields) {
    if (SIMPLE_KEYS.has(key)) known++;
    else note(key, '', SIMPLE_KEYS, fields[key]);
  }
  if (known === 0) throw unknownFormat(fields);

  const captured = nothingCaptured();
  const list = new StepList();
  const model = optionalText(fields.model, 'model');
  addContext(list, fields.context, captured);
  const llmCalls =
    typeof fields.llm_calls === 'number'
      ? optionalAmount(fields.llm_calls, 'llm_calls')
      : undefined;
  if (llmCalls !== undefined) captured.llmCalls = 'partial';
  else if (isGiven(fields.llm_calls))
    addLlmCalls(list, fields.llm_calls, { captured, defaultModel: model, note });
  if (isGiven(fields.tool_calls)) addToolCalls(list, fields.tool_calls, captured, note);
  if (hidesCalls || mayHideCalls(fields)) {
    warnings.push({
      code: 'SIMPLE_CALLS_ELSEWHERE',
      message:
        'calls may be recorded under keys that are not read: list every call in "tool_calls"',
    });
    if (captured.toolCalls === 'full') captured.toolCalls = 'partial';
  }
  addMultiAgent(list, fields, captured, AGENT_LISTS);

  const trace: Trace = {
    schema: TRACE_SCHEMA,
    id: idOf(fields.id, 'id') ?? idOf(fields.query_id, 'query_id') ?? placeId(place),
    source: sourceOf(place),
    status: 'unknown',
    agents: agentsIn(list, fields, captured),
    steps: list.steps,
    meta: metaOf(fields, model),
    captured,
    warnings,
  };
  setTask(trace, fields);
  setFinal(trace, fields.answer);
  setFinish(trace, fields);
  setStatus(trace, fields);
  setReported(trace, fields, llmCalls);
  if (isGiven(fields.resources)) trace.resources = resourcesOf(fields.resources, 'resources');
  if (trace.reported !== undefined)
    for (const warning of driftWarnings(trace)) warnings.push(warning);
  return trace;
}

function withOwnNames(fields: Fields): Fields {
  let renamed: Record<string, unknown> | undefined;
  for (const key in fields) {
    const name = ALIASES.get(key);
    if (name === undefined || isGiven(fields[name])) continue;
    renamed ??= { ...fields };
    renamed[name] = fields[key];
  }
  return renamed ?? fields;
}

function idOf(value: unknown, key: string): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  const id = optionalText(value, key);
  return id === '' ? undefined : id;
}

/** An id for a record without one: its location, so that two reads agree. */
export function placeId({ file, line, index }: RecordPlace): string {
  const position = index ?? line;
  if (file === undefined) return position === undefined ? 'trace' : `trace#${position}`;
  return position === undefined ? file : `${file}#${position}`;
}

function sourceOf({ file, line }: RecordPlace): TraceSource {
  const source: TraceSource = { format: 'simple' };
  if (file !== undefined) source.file = file;
  if (line !== undefined) source.line = line;
  return source;
}

function addContext(list: StepList, value: unknown, captured: Captured): void {
  if (!isGiven(value)) return;
  const given = typeof value === 'string' ? [value] : value;
  const items: readonly unknown[] = Array.isArray(given)
    ? given
    : refuse('context', 'a list', value);
  const documents = items.map((item: unknown, i: number) => {
    if (typeof item === 'string') return { text: item };
    if (isFields(item) && typeof item.text === 'string')
      return { text: item.text, id: typeof item.id === 'string' ? item.id : undefined };
    return refuse(`context[${i}]`, 'text, or an object with "text"', item);
  });
  list.add({ kind: 'retrieval', status: 'ok', documents });
  captured.retrieval = 'full';
}

/** The order in which multi-agent lists are read. */
const AGENT_LISTS = ['handoffs', 'interactions'] as const;

function metaOf(fields: Fields, model: string | undefined): Trace['meta'] {
  const meta = isGiven(fields.metadata) ? objectAt(fields.metadata, 'metadata') : {};
  return model === undefined || Object.hasOwn(meta, 'model') ? meta : { ...meta, model };
}

function setTask(trace: Trace, fields: Fields): void {
  const query = optionalText(fields.query, 'query');
  const id = idOf(fields.query_id, 'query_id') ?? idOf(fields.id, 'id');
  if (query === undefined && id === undefined) return;
  trace.task = {};
  if (id !== undefined) trace.task.id = id;
  if (query === undefined) return;
  trace.task.input = [{ role: 'user', parts: [{ type: 'text', text: query }] }];
  trace.captured.prompts = 'partial';
}

function setFinal(trace: Trace, answer: unknown): void {
  if (!isGiven(answer)) return;
  trace.captured.final = 'full';
  if (typeof answer === 'string') trace.final = { text: answer };
  else trace.final = typeof answer === 'object' ? { data: answer } : { text: String(answer) };
}

function setFinish(trace: Trace, fields: Fields): void {
  const key = FINISH_KEYS.find((name) => isGiven(fields[name]));
  const finish = key === undefined ? undefined : finishOf(optionalText(fields[key], key));
  if (finish !== undefined && trace.final !== undefined) trace.final.finish = finish;
}

const STATUSES: ReadonlyMap<unknown, Trace['status']> = new Map([
  ['ok', 'ok'],
  ['success', 'ok'],
  ['error', 'error'],
  ['failed', 'error'],
  ['incomplete', 'incomplete'],
  ['unknown', 'unknown'],
]);

function setStatus(trace: Trace, fields: Fields): void {
  const error = failureOf(fields.error, 'error');
  if (error !== undefined) trace.error = error;
  if (isGiven(fields.status)) {
    trace.status =
      STATUSES.get(fields.status) ??
      refuse('status', 'ok, error, incomplete or unknown', fields.status);
  } else if (error !== undefined) trace.status = 'error';
  else if (trace.final !== undefined) trace.status = 'ok';
}

function setReported(trace: Trace, fields: Fields, llmCalls: number | undefined): void {
  const usage = usageOf(fields, '');
  const usd = optionalAmount(fields.cost_usd, 'cost_usd');
  const durationMs = optionalAmount(fields.latency_ms, 'latency_ms');
  if (
    usage === undefined &&
    usd === undefined &&
    durationMs === undefined &&
    llmCalls === undefined
  )
    return;
  trace.reported = {};
  if (usage !== undefined) {
    trace.reported.usage = usage;
    trace.captured.usage = 'full';
  }
  if (usd !== undefined) {
    trace.reported.cost = { usd, source: 'reported' };
    trace.captured.cost = 'full';
  }
  if (durationMs !== undefined) {
    trace.reported.durationMs = durationMs;
    trace.captured.timing = 'full';
  }
  if (llmCalls !== undefined) trace.reported.llmCalls = llmCalls;
}

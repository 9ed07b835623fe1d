import { hasValues } from '@agentci/lib/data';
import type { Captured, CaptureLevel, Step, Trace, Turn } from './model.ts';
import { CAPABILITIES } from './model.ts';
import { finalText, queryText } from './selectors.ts';

/** The turns of a run. A single question and answer are one turn. */
export function turnsOf(trace: Trace): readonly Turn[] {
  if (trace.conversation !== undefined) return trace.conversation.turns;
  const { final, reported } = trace;
  return [
    {
      turn: 1,
      message: queryText(trace) ?? '',
      final,
      reported,
    },
  ];
}

export const answerOfTurn = ({ final }: Turn): string | undefined =>
  final === undefined ? undefined : finalText({ final } as Trace);

/** One turn as a separate run: its steps, answer and usage. Undefined if the turn never came. */
export function traceOfTurn(trace: Trace, number: number): Trace | undefined {
  if (trace.conversation === undefined) return number === 1 ? trace : undefined;
  const turn = trace.conversation.turns.find((each) => each.turn === number);
  if (turn === undefined) return undefined;
  const {
    final: _,
    reported: __,
    startedAt: ___,
    endedAt: ____,
    conversation: _____,
    endState: ______,
    ...rest
  } = trace;
  const captured = {
    ...(turn.captured ?? trace.captured),
    final: turn.final === undefined ? 'none' : 'full',
  } as Captured;
  // A call without a turn may belong to this one.
  if (captured.toolCalls === 'full' && trace.steps.some(isHomeless)) captured.toolCalls = 'partial';
  return {
    ...rest,
    task: {
      ...trace.task,
      input: [{ role: 'user', parts: [{ type: 'text', text: turn.message }] }],
    },
    steps: trace.steps.filter((step) => step.userTurn === number),
    captured,
    final: turn.final,
    reported: turn.reported,
  };
}

const isHomeless = (step: Step): boolean => step.kind === 'tool' && step.userTurn === undefined;

/** The result of one turn of a live conversation. */
export interface TurnRun {
  readonly message: string;
  readonly trace: Trace;
}

/**
 * Joins the turns of a conversation into one trace. Steps that an agent repeats from earlier turns
 * count once. With `areApart` each turn has only its new steps, whatever their ids.
 */
export function joinTurns(
  runs: readonly TurnRun[],
  conversation: Omit<NonNullable<Trace['conversation']>, 'turns'>,
  { areApart = false }: { readonly areApart?: boolean } = {},
): Trace {
  const before: string[] = [];
  const own = runs.map(({ trace }, i) => newSteps(trace, areApart ? [] : before, `t${i + 1}.`));
  const captured = capturedByAll(runs.map(({ trace }) => trace.captured));
  const [first] = runs;
  const last = runs.at(-1);
  if (first === undefined || last === undefined)
    throw new Error('a conversation has at least one turn');
  const turns = runs.map(({ message, trace }, i): Turn => {
    const reported = reportedOfTurn(trace, own[i]!.isRepeating);
    return {
      turn: i + 1,
      message,
      final: trace.final,
      reported,
      captured: CAPABILITIES.every((key) => trace.captured[key] === captured[key])
        ? undefined
        : trace.captured,
    };
  });
  const reported = sumReported(turns.map((turn) => turn.reported));
  const { final: _, reported: __, error: ___, startedAt, ...rest } = first.trace;
  const { endedAt } = last.trace;
  const failed = runs.find(({ trace }) => trace.error !== undefined)?.trace.error;
  return {
    ...rest,
    startedAt,
    endedAt: endedAt ?? rest.endedAt,
    task: {
      ...first.trace.task,
      input: [{ role: 'user', parts: [{ type: 'text', text: first.message }] }],
    },
    status: worst(runs.map(({ trace }) => trace.status)),
    error: failed,
    final: last.trace.final,
    agents: uniqueBy(
      runs.flatMap(({ trace }) => trace.agents),
      ({ id }) => id,
    ),
    steps: own
      .flatMap(({ steps }, i) => steps.map((step) => ({ ...step, userTurn: i + 1 })))
      .map((step, i) => ({ ...step, seq: i + 1 })),
    ...listsOf(runs),
    reported,
    meta: Object.assign({}, ...runs.map(({ trace }) => trace.meta)) as Trace['meta'],
    captured: { ...captured, final: last.trace.captured.final },
    conversation: { ...conversation, turns },
    warnings: runs.flatMap(({ trace }, i) =>
      trace.warnings.map(({ code, message }) => ({ code, message: `turn ${i + 1}: ${message}` })),
    ),
  };
}

const listsOf = (runs: readonly TurnRun[]) => ({
  ...listOf(
    'tools',
    uniqueBy(
      runs.flatMap(({ trace }) => trace.tools ?? []),
      ({ name }) => name,
    ),
  ),
  ...listOf(
    'outcomes',
    runs.flatMap(({ trace }) => trace.outcomes ?? []),
  ),
  ...listOf(
    'resources',
    runs.flatMap(({ trace }) => trace.resources ?? []),
  ),
});

const listOf = <K extends string, T>(key: K, list: readonly T[]): Partial<Record<K, T[]>> =>
  list.length === 0 ? {} : ({ [key]: [...list] } as Record<K, T[]>);

function uniqueBy<T>(list: readonly T[], keyOf: (item: T) => string): T[] {
  const byKey = new Map(list.map((item) => [keyOf(item), item]));
  return [...byKey.values()];
}

/**
 * The new steps of a turn, with new ids. An agent that returns its history repeats all earlier
 * steps in order and then adds to them. Ids alone cannot tell, because some servers reuse one id.
 */
function newSteps(
  trace: Trace,
  before: string[],
  prefix: string,
): { steps: Step[]; isRepeating: boolean } {
  const lastTurn = trace.conversation?.turns.at(-1)?.turn;
  const recent = trace.steps.filter(
    ({ userTurn }) => userTurn === undefined || userTurn === lastTurn,
  );
  const marks = recent.map(markOf);
  const told = marks.filter((mark) => mark !== undefined);
  const repeated = repeats(told, before) ? before.length : 0;
  let left = repeated;
  const steps = recent.filter((_, i) => marks[i] === undefined || left-- <= 0);
  before.push(...told.slice(repeated));
  return {
    steps: steps.map((step) => renamed(step, prefix)),
    isRepeating: steps.length < trace.steps.length,
  };
}

/**
 * Whether a turn starts with all earlier steps. If it adds nothing, only calls with different ids
 * can be recognized.
 */
function repeats(told: readonly string[], before: readonly string[]): boolean {
  if (before.length === 0 || !before.every((mark, i) => told[i] === mark)) return false;
  return (
    told.length > before.length ||
    (before.length > 1 && new Set(before.map(idIn)).size === before.length)
  );
}

/** Identifies a repeated tool or model call. */
function markOf(step: Step): string | undefined {
  if (step.kind === 'tool')
    return JSON.stringify([step.callId ?? '', step.kind, step.name, step.args ?? null]);
  if (step.kind !== 'llm' || step.responseId === undefined) return undefined;
  const { responseId, kind, t0, usage, output } = step;
  // Some servers reuse one id for every answer. A different time or content makes it a different
  // answer.
  return JSON.stringify([responseId, kind, t0 ?? null, usage ?? null, output?.parts ?? null]);
}

const idIn = (mark: string): unknown => (JSON.parse(mark) as unknown[])[0];

function renamed(step: Step, prefix: string): Step {
  const copy: Step = { ...step, id: prefix + step.id };
  if (copy.parent !== undefined) copy.parent = prefix + copy.parent;
  if (copy.kind === 'tool' && copy.requestedBy !== undefined)
    copy.requestedBy = prefix + copy.requestedBy;
  if (copy.kind === 'handoff' && copy.via !== undefined) copy.via = prefix + copy.via;
  if (copy.kind === 'message' && copy.replyTo !== undefined) copy.replyTo = prefix + copy.replyTo;
  return copy;
}

/**
 * The totals of a recording that repeats earlier turns count those again, so only the steps give
 * the usage of a turn.
 */
function reportedOfTurn(
  { reported, startedAt, endedAt }: Trace,
  isRepeating: boolean,
): Trace['reported'] {
  const durationMs =
    reported?.durationMs ??
    (startedAt === undefined || endedAt === undefined
      ? undefined
      : Math.max(0, endedAt - startedAt));
  const { usage: _, cost: __, llmCalls: ___, ...clock } = reported ?? {};
  const kept = isRepeating ? clock : { ...reported };
  if (durationMs === undefined) return reported === undefined ? undefined : kept;
  return { ...kept, durationMs };
}

/** A total that is missing in one turn is unknown for the whole. */
function sumReported(all: readonly Trace['reported'][]): Trace['reported'] {
  const sum: NonNullable<Trace['reported']> = {};
  const add = (values: readonly (number | undefined)[]): number | undefined =>
    values.every((value) => value !== undefined)
      ? values.reduce<number>((total, value) => total + value!, 0)
      : undefined;
  for (const key of ['durationMs', 'wallMs', 'llmCalls'] as const) {
    const value = add(all.map((each) => each?.[key]));
    if (value !== undefined) sum[key] = value;
  }
  const usd = add(all.map((each) => each?.cost?.usd));
  if (usd !== undefined) {
    const isReported = all.every((each) => each?.cost?.source === 'reported');
    sum.cost = { usd: Math.round(usd * 1e12) / 1e12, source: isReported ? 'reported' : 'computed' };
  }
  const usage: NonNullable<NonNullable<Trace['reported']>['usage']> = {};
  for (const key of ['input', 'output', 'total', 'cacheRead', 'cacheWrite', 'reasoning'] as const) {
    const value = add(all.map((each) => each?.usage?.[key]));
    if (value !== undefined) usage[key] = value;
  }
  if (hasValues(usage)) sum.usage = usage;
  const cold = all[0]?.coldStartMs;
  if (cold !== undefined) sum.coldStartMs = cold;
  return hasValues(sum) ? sum : undefined;
}

function capturedByAll(all: readonly Captured[]): Captured {
  const levelOf = (levels: readonly CaptureLevel[]): CaptureLevel =>
    levels.every((level) => level === levels[0]) ? levels[0]! : 'partial';
  return Object.fromEntries(
    CAPABILITIES.map((key) => [key, levelOf(all.map((each) => each[key]))]),
  ) as Captured;
}

const BADNESS: Readonly<Record<Trace['status'], number>> = {
  error: 3,
  incomplete: 2,
  unknown: 1,
  ok: 0,
};
const worst = (all: readonly Trace['status'][]): Trace['status'] =>
  all.reduce((a, b) => (BADNESS[b] > BADNESS[a] ? b : a));

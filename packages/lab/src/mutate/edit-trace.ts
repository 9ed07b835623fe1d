import type { HandoffStep, LlmStep, Message, Step, ToolStep, Trace } from '@agentci/trace';

/** Edits of a recording that keep it valid. Unchanged parts are shared, not copied. */

export const withSteps = (trace: Trace, steps: readonly Step[]): Trace => ({
  ...trace,
  steps: steps.map((step, seq) => (step.seq === seq ? step : { ...step, seq })),
});

/** Replaces a step, and all references to a call by its id. */
export const replaceStep = (trace: Trace, before: Step, after: Step): Trace =>
  withSteps(
    trace,
    trace.steps.map((step) => (step === before ? after : step)),
  );

/**
 * Removes a step from the recording: its children move to its parent, and messages no longer
 * mention it.
 */
export function withoutStep(trace: Trace, gone: Step): Trace {
  const steps = trace.steps.flatMap((step): Step[] => {
    if (step === gone) return [];
    let kept: Step = step;
    if (kept.parent === gone.id) {
      const { parent: _, ...rest } = kept;
      kept = (gone.parent === undefined ? rest : { ...rest, parent: gone.parent }) as Step;
    }
    if (gone.kind === 'tool') {
      if (kept.kind === 'llm') kept = withoutCall(kept, gone);
      if (kept.kind === 'handoff' && kept.via === gone.id) {
        const { via: _, ...rest } = kept;
        kept = rest as HandoffStep;
      }
    }
    return [kept];
  });
  return withSteps(trace, steps);
}

/** Removes the request and the result of a tool call from a model call. */
function withoutCall(step: LlmStep, { callId }: ToolStep): LlmStep {
  if (callId === undefined) return step;
  const { input, output } = step;
  const changed = { ...step };
  if (input?.some((message) => mentions(message, callId)))
    changed.input = input
      .filter((message) => message.callId !== callId)
      .map((message) => unasked(message, callId));
  if (output !== undefined && mentions(output, callId)) changed.output = unasked(output, callId);
  return changed;
}

const mentions = ({ callId, calls }: Message, id: string): boolean =>
  callId === id || (calls?.some((call) => call.id === id) ?? false);

function unasked(message: Message, id: string): Message {
  if (!message.calls?.some((call) => call.id === id)) return message;
  const calls = message.calls.filter((call) => call.id !== id);
  const { calls: _, ...rest } = message;
  return calls.length === 0 ? rest : { ...rest, calls };
}

/** Inserts a call after a step. Nothing else refers to it. */
export function insertCall(trace: Trace, after: Step | undefined, call: ToolStep): Trace {
  const at = after === undefined ? trace.steps.length : trace.steps.indexOf(after) + 1;
  // Without a turn, the call would leave the checks on turns undecided.
  const userTurn = call.userTurn ?? after?.userTurn ?? trace.conversation?.turns.at(-1)?.turn;
  const placed = userTurn === undefined ? call : { ...call, userTurn };
  return withSteps(trace, [...trace.steps.slice(0, at), placed, ...trace.steps.slice(at)]);
}

/** An unused step id. */
export function freshId(trace: Trace, stem: string): string {
  const taken = new Set(trace.steps.map(({ id }) => id));
  let id = stem;
  for (let n = 2; taken.has(id); n++) id = `${stem}-${n}`;
  return id;
}

interface AnswerChange {
  readonly before: string;
  readonly text: string;
}

/** Replaces the answer in the result, and in the model's last reply if it is the same text. */
export function withAnswer(trace: Trace, change: AnswerChange): Trace {
  return withReply({ ...trace, final: finalWith(trace.final, change.text) }, change);
}

/** Replaces the answer of one turn. The last turn's answer is also that of the whole recording. */
export function withAnswerOfTurn(trace: Trace, number: number, change: AnswerChange): Trace {
  const { conversation } = trace;
  if (conversation === undefined) return withAnswer(trace, change);
  const turns = conversation.turns.map((turn) =>
    turn.turn === number ? { ...turn, final: finalWith(turn.final, change.text) } : turn,
  );
  const changed: Trace = { ...trace, conversation: { ...conversation, turns } };
  const isLast = turns.at(-1)?.turn === number;
  return withReply(
    isLast ? { ...changed, final: finalWith(trace.final, change.text) } : changed,
    change,
    number,
  );
}

function finalWith(final: Trace['final'], text: string): NonNullable<Trace['final']> {
  const { data: _, parts: __, ...rest } = final ?? {};
  return { ...rest, text };
}

/** Replaces the answer in the model's last reply, optionally of one turn. */
function withReply(trace: Trace, { before, text }: AnswerChange, turn?: number): Trace {
  const last = trace.steps.findLast(
    (step): step is LlmStep =>
      step.kind === 'llm' && (turn === undefined || step.userTurn === turn),
  );
  if (last?.output === undefined) return trace;
  const { output } = last;
  const parts = output.parts.map((part) =>
    part.type === 'text' && part.text === before ? { ...part, text } : part,
  );
  return replaceStep(trace, last, { ...last, output: { ...output, parts } });
}

/** Multiplies the usage of a run by a factor: the reported total and each call. */
export function scaled(trace: Trace, what: 'cost' | 'usage' | 'time', factor: number): Trace {
  const steps = trace.steps.map((step): Step => {
    if (what === 'time') return stretched(step, trace.steps[0]?.t0 ?? trace.startedAt ?? 0, factor);
    if (step.kind !== 'llm') return step;
    if (what === 'cost' && step.cost !== undefined)
      return { ...step, cost: { ...step.cost, usd: step.cost.usd * factor } };
    if (what === 'usage' && step.usage !== undefined)
      return { ...step, usage: times(step.usage, factor) };
    return step;
  });
  const changed: Trace = { ...trace, steps };
  if (trace.reported !== undefined) changed.reported = scaledTotals(trace.reported, what, factor);
  if (trace.conversation !== undefined) {
    const turns = trace.conversation.turns.map((turn) =>
      turn.reported === undefined
        ? turn
        : { ...turn, reported: scaledTotals(turn.reported, what, factor) },
    );
    changed.conversation = { ...trace.conversation, turns };
  }
  if (what === 'time' && trace.startedAt !== undefined && trace.endedAt !== undefined)
    changed.endedAt = trace.startedAt + (trace.endedAt - trace.startedAt) * factor;
  return changed;
}

type Reported = NonNullable<Trace['reported']>;

function scaledTotals(before: Reported, what: 'cost' | 'usage' | 'time', factor: number): Reported {
  const reported = { ...before };
  if (what === 'cost' && reported.cost !== undefined)
    reported.cost = { ...reported.cost, usd: reported.cost.usd * factor };
  if (what === 'usage' && reported.usage !== undefined)
    reported.usage = times(reported.usage, factor);
  if (what === 'time')
    for (const key of ['durationMs', 'wallMs', 'ttftMs'] as const)
      if (reported[key] !== undefined) reported[key] = reported[key] * factor;
  return reported;
}

function stretched(step: Step, start: number, factor: number): Step {
  if (step.t0 === undefined && step.t1 === undefined) return step;
  const later = (at: number): number => start + (at - start) * factor;
  return {
    ...step,
    t0: step.t0 === undefined ? step.t0 : later(step.t0),
    t1: step.t1 === undefined ? step.t1 : later(step.t1),
  };
}

const times = <T extends object>(amounts: T, factor: number): T =>
  Object.fromEntries(
    Object.entries(amounts).map(([key, amount]) => [
      key,
      typeof amount === 'number' ? amount * factor : amount,
    ]),
  ) as T;

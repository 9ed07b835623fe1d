import type { HandoffStep, LlmStep, Message, Step, ToolStep, Trace } from '@agentci/trace';

/** Changes of a recording that leave it a valid one. What is not touched is shared, not copied. */

export const withSteps = (trace: Trace, steps: readonly Step[]): Trace => ({
  ...trace,
  steps: steps.map((step, seq) => (step.seq === seq ? step : { ...step, seq })),
});

/** The recording with one step replaced, and all that is said of a call by its id. */
export const replaceStep = (trace: Trace, before: Step, after: Step): Trace =>
  withSteps(
    trace,
    trace.steps.map((step) => (step === before ? after : step)),
  );

/** The recording as if a step had never happened: its children belong to its parent, and messages do not mention it. */
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

/** A model call that neither asks for a tool call nor sees its result. */
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

/** The recording with a call after a step, with nothing pointing at it but itself. */
export function insertCall(trace: Trace, after: Step | undefined, call: ToolStep): Trace {
  const at = after === undefined ? trace.steps.length : trace.steps.indexOf(after) + 1;
  // A call that belongs to no turn would leave the checks on turns without a verdict.
  const userTurn = call.userTurn ?? after?.userTurn ?? trace.conversation?.turns.at(-1)?.turn;
  const placed = userTurn === undefined ? call : { ...call, userTurn };
  return withSteps(trace, [...trace.steps.slice(0, at), placed, ...trace.steps.slice(at)]);
}

/** An id no step has yet. */
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

/** The recording with another answer: in its result, and in the last reply of the model where that was the answer. */
export function withAnswer(trace: Trace, change: AnswerChange): Trace {
  return withReply({ ...trace, final: finalWith(trace.final, change.text) }, change);
}

/** The recording with another answer in one turn of its conversation; that of the last turn is the answer of the whole. */
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

/** The last reply of the model, in the turn where one is meant, says what the answer says. */
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

/** What a run used, times a factor: what the source reports, and what each call says. */
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

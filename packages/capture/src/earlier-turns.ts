import type { Step, ToolStep, Trace } from '@agentci/trace';
import type { Exchange } from './exchange.ts';

/** A turn of a conversation, as far as it matters which came before. */
interface ThisTurn {
  readonly conversation: string;
  readonly turn: number;
}

/** Conversations in progress at the same time. One whose beginning was forgotten is read turn by turn. */
const MAX_TALKS = 256;

/**
 * What was captured in the earlier turns of conversations. An agent that keeps its history sends it with every request, so
 * that the calls of earlier turns are seen again in each later one.
 */
export class EarlierTurns {
  readonly #talks = new Map<string, readonly Exchange[]>();

  before({ conversation, turn }: ThisTurn): readonly Exchange[] {
    return turn === 1 ? [] : (this.#talks.get(conversation) ?? []);
  }

  add(turn: ThisTurn, exchanges: readonly Exchange[]): void {
    const all = [...this.before(turn), ...exchanges];
    this.#talks.delete(turn.conversation);
    this.#talks.set(turn.conversation, all);
    for (const oldest of this.#talks.keys()) {
      if (this.#talks.size <= MAX_TALKS) return;
      this.#talks.delete(oldest);
    }
  }
}

/** What is new in the trace of all turns up to this one, where `earlier` is the trace of those before it. */
export function ownSteps(whole: Trace, earlier: Trace): Trace {
  const { conversation: _, ...rest } = whole;
  const past = pastSteps(whole, earlier);
  const said = new Set(earlier.warnings.map(textOf));
  return {
    ...rest,
    steps: whole.steps
      .filter(({ id }) => !past.has(id))
      .map(({ userTurn: __, ...step }, i) => withoutLinks({ ...step, seq: i + 1 } as Step, past)),
    warnings: whole.warnings.filter((warning) => !said.has(textOf(warning))),
  };
}

const textOf = ({ code, message }: Trace['warnings'][number]): string => `${code} ${message}`;

/** Calls of models came in the order of time. A tool's call is as old as the reply that asked for it. */
function pastSteps({ steps }: Trace, earlier: Trace): ReadonlySet<string> {
  const past = new Set<string>();
  let calls = earlier.steps.filter(isOfModel).length;
  for (const step of steps) if (isOfModel(step) && calls-- > 0) past.add(step.id);
  // Calls that no reply asked for are from a history that the agent brought along.
  const brought = earlier.steps.filter(isMentioned).map(nameOf);
  for (const step of steps) {
    if (!isMentioned(step)) continue;
    const at = step.requestedBy === undefined ? brought.indexOf(nameOf(step)) : -1;
    if (at >= 0) brought.splice(at, 1);
    if (at >= 0 || (step.requestedBy !== undefined && past.has(step.requestedBy)))
      past.add(step.id);
  }
  for (const step of steps)
    if (step.kind === 'handoff' && past.has(step.via ?? '')) past.add(step.id);
  return past;
}

const isOfModel = (step: Step): boolean =>
  step.kind === 'llm' ||
  (step.kind === 'event' && (step.name === 'llm.failed' || step.name === 'embedding'));

/** A call of which nothing but messages tell. */
const isMentioned = (step: Step): step is ToolStep =>
  step.kind === 'tool' && step.evidence.every((kind) => kind === 'message');

const nameOf = ({ callId, name, args }: ToolStep): string =>
  JSON.stringify([callId ?? null, name, args ?? null]);

function withoutLinks(step: Step, gone: ReadonlySet<string>): Step {
  if (step.parent !== undefined && gone.has(step.parent)) delete step.parent;
  if (step.kind === 'tool' && step.requestedBy !== undefined && gone.has(step.requestedBy))
    delete step.requestedBy;
  return step;
}

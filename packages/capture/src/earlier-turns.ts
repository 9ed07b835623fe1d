import type { Step, ToolStep, Trace } from '@agentci/trace';
import type { Exchange } from './exchange.ts';

/** A turn of a conversation, with the data needed to find earlier turns. */
interface ThisTurn {
  readonly conversation: string;
  readonly turn: number;
}

/**
 * Maximum number of concurrent conversations. A conversation whose beginning was dropped is read
 * turn by turn.
 */
const MAX_TALKS = 256;

/**
 * The captured calls of earlier turns. An agent that keeps its history sends it with every request,
 * so earlier calls appear again in each later turn.
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

/** The new steps in the trace of all turns so far. `earlier` is the trace of the previous turns. */
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

/** Model calls are in the order of time. A tool call is as old as the reply that requested it. */
function pastSteps({ steps }: Trace, earlier: Trace): ReadonlySet<string> {
  const past = new Set<string>();
  let calls = earlier.steps.filter(isOfModel).length;
  for (const step of steps) if (isOfModel(step) && calls-- > 0) past.add(step.id);
  // Calls that no reply requested come from a history that the agent had from elsewhere.
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

/** A call known only from messages. */
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

import { RegexTimeout } from '@agentci/lib/regex';
import { isVisible } from '@agentci/lib/text';
import type { ConversationPlan, Query, ScriptEntry } from '@agentci/spec';
import type { Conversation, ConversationEnding, Trace } from '@agentci/trace';
import { captures, finalText, joinTurns, type TurnRun } from '@agentci/trace';
import {
  AgentError,
  type ChatMessage,
  type RunOutput,
  type TurnRequest,
} from '../runners/runner.ts';
import { hasRun } from './conversation-end.ts';
import { interpretOutput } from './interpret-output.ts';
import type { PlayedMove } from './model-user.ts';
import { ScriptUser } from './script-user.ts';
import { earlyDone, userFaultText } from './user-fault.ts';

export interface Talk {
  readonly query: Query;
  readonly plan: ConversationPlan;
  /** The conversation id that the agent gets. */
  readonly id: string;
  readonly runTurn: (turn: TurnRequest) => Promise<RunOutput>;
  /** The next message of a user simulated by a model. */
  readonly play?: (history: readonly ChatMessage[]) => Promise<PlayedMove>;
}

/** The agent failed in the middle of a conversation. */
export class TurnError extends AgentError {
  /** The conversation before the failure. Undefined if the first turn failed. */
  readonly before: Trace | undefined;
  readonly turn: number;
  /** The unanswered message. */
  readonly unanswered: string;

  constructor(error: AgentError, at: { turn: number; message: string; before: Trace | undefined }) {
    super(error.kind, `turn ${at.turn}: ${error.message}`, error);
    this.turn = at.turn;
    this.unanswered = at.message;
    this.before = at.before;
  }
}

/**
 * Holds one conversation with the agent from the first message to its end, and builds one trace of
 * it.
 */
export async function converse({ query, plan, id, runTurn, play }: Talk): Promise<Trace> {
  const user = new ScriptUser(plan.script);
  const history: ChatMessage[] = [];
  const runs: TurnRun[] = [];
  let message = query.query;
  let isLast = false;
  for (let turn = 1; ; turn++) {
    history.push({ role: 'user', content: message });
    const trace = await answerTo({ query, id, plan, runTurn, runs, history, turn, message });
    runs.push({ message, trace });
    const answer = finalText(trace) ?? '';
    history.push({ role: 'assistant', content: answer });
    const end = (
      ending: ConversationEnding,
      fault?: string,
      kind: Ended['kind'] = 'script',
      at = turn,
    ): Trace => ended({ id, ending, fault, kind, at, runs, user, plan });
    if (plan.endTools.length > 0 && hasRun(trace, plan.endTools)) return end('agent_done');
    if (isLast) {
      // `done` counts after the agent's answer, and not before the user's goal is reached.
      const early = earlyDone(
        plan.user?.goalTool,
        runs.map((each) => each.trace),
      );
      return end('user_done', early, 'simulator');
    }
    if (turn >= plan.maxTurns) return end('max_turns');
    if (play !== undefined) {
      const played = await play(history);
      if (played.kind === 'fault')
        return end(
          'error',
          userFaultText(turn + 1, played.message),
          played.isUnavailable === true ? 'unavailable' : 'simulator',
          turn + 1,
        );
      if (played.kind === 'lost')
        return end('out_of_scope', `the brief says nothing about ${played.missing}`, 'simulator');
      ({ message, isLast } = played);
      continue;
    }
    let move: ReturnType<ScriptUser['next']>;
    try {
      move = user.next(answer);
    } catch (error) {
      if (!(error instanceof RegexTimeout)) throw error;
      return end('error', `what to say after turn ${turn} is unknown: ${error.message}`);
    }
    if (move.kind === 'done') {
      const fault = `the script was used up after turn ${turn}, before the agent ended the conversation`;
      return end('user_done', plan.mustAgentEnd ? fault : undefined);
    }
    ({ message } = move);
  }
}

interface Asked extends Talk {
  readonly runs: readonly TurnRun[];
  readonly history: readonly ChatMessage[];
  readonly turn: number;
  readonly message: string;
}

async function answerTo({
  query,
  plan,
  id,
  runTurn,
  runs,
  history,
  turn,
  message,
}: Asked): Promise<Trace> {
  try {
    const output = await runTurn({
      conversation: id,
      turn,
      message,
      messages: plan.session === 'stateless' ? [...history] : undefined,
    });
    const trace = await interpretOutput(output, query);
    const isAnswered =
      isVisible(finalText(trace) ?? '') ||
      (plan.endTools.length > 0 && hasRun(trace, plan.endTools));
    if (!isAnswered) throw new AgentError('agent', emptyAnswer(trace), { stderr: output.stderr });
    const other = otherMessage(trace, message);
    if (other !== undefined)
      throw new AgentError(
        'agent',
        `the agent gave back turns that end with another message of the user: ${JSON.stringify(clipped(other))}`,
        { stderr: output.stderr },
      );
    return trace;
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    const before =
      runs.length === 0
        ? undefined
        : joinTurns(runs, { id, ending: error.isTimeout ? 'timeout' : 'error' });
    throw new TurnError(error, { turn, message, before });
  }
}

/**
 * The last message of the agent's returned turns, if it differs from the message it was sent. The
 * agent may have added text around it.
 */
function otherMessage({ conversation, source }: Trace, message: string): string | undefined {
  const last = source.format === 'simple' ? conversation?.turns.at(-1)?.message : undefined;
  return last === undefined || plainText(last).includes(plainText(message)) ? undefined : last;
}

const plainText = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').trim();

function emptyAnswer({ warnings }: Trace): string {
  const why = warnings.find(({ code }) => code === 'MODEL_ASKED_FOR_TOOLS')?.message;
  return why ?? 'the agent gave an empty answer';
}

interface Ended {
  readonly id: string;
  readonly ending: ConversationEnding;
  readonly fault: string | undefined;
  readonly kind: 'script' | 'simulator' | 'unavailable';
  /** The turn of the error. A rejected message belongs to a turn that the agent never saw. */
  readonly at: number;
  readonly runs: readonly TurnRun[];
  readonly user: ScriptUser;
  readonly plan: ConversationPlan;
}

function ended({ id, ending, fault, kind, at, runs, user, plan }: Ended): Trace {
  const unused = user.unused();
  const missed = unused.find(({ required }) => required === true);
  const why =
    fault ?? (missed === undefined ? undefined : `${shown(missed)} is required and was never said`);
  const trace = joinTurns(runs, {
    id,
    ending,
    fault:
      why === undefined
        ? undefined
        : { ...faultKind(fault === undefined ? 'script' : kind), message: why, turn: at },
  });
  const warnings = unused
    .filter((entry) => entry !== missed)
    .map((entry) => ({ code: 'SCRIPT_UNUSED', message: `${shown(entry)} was never said` }));
  if (plan.endTools.length > 0 && !captures(trace, 'toolCalls'))
    warnings.push({
      code: 'END_UNSEEN',
      message: `tool calls were not captured, so a call of ${plan.endTools.join(', ')} could not end the conversation`,
    });
  return warnings.length === 0 ? trace : { ...trace, warnings: [...trace.warnings, ...warnings] };
}

const faultKind = (
  kind: Ended['kind'],
): Pick<NonNullable<Conversation['fault']>, 'kind' | 'unavailable'> =>
  kind === 'unavailable' ? { kind: 'simulator', unavailable: true } : { kind };

const MAX_SHOWN = 60;
const clipped = (text: string): string =>
  text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;

const shown = ({ say, when }: ScriptEntry): string =>
  when === undefined
    ? `the line ${JSON.stringify(clipped(say))} of the script`
    : `the line of the script for /${clipped(when)}/`;

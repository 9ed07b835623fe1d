import type {
  Agent,
  AgentStep,
  Capability,
  Captured,
  ConversationEnding,
  Cost,
  EventStep,
  Failure,
  GuardrailStep,
  HandoffStep,
  LlmStep,
  Message,
  MessageStep,
  RetrievalStep,
  Step,
  ToolDef,
  ToolStep,
  Trace,
  TraceSource,
  Usage,
} from '@agentci/trace';
import type { Gap } from './gap-kinds.ts';

export type { Gap } from './gap-kinds.ts';

/** An adapter's findings about one run, before folding, joining and ordering. */
export interface Draft {
  /** The run's id. Default: the location of the record. */
  readonly id?: string;
  readonly source: Omit<TraceSource, 'file' | 'line'>;
  readonly task?: Trace['task'];
  /** In the order of the recording. */
  readonly steps: readonly DraftStep[];
  /** Messages outside of any LLM call, such as tool results after the last one. */
  readonly turns?: readonly Turn[];
  /** The answer, if the source states it. Otherwise the builder finds it. */
  readonly final?: Trace['final'];
  readonly status?: Trace['status'];
  /** How the conversation ended, if the source states it. */
  readonly ending?: ConversationEnding;
  readonly error?: Failure;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly agents?: readonly Agent[];
  readonly tools?: readonly ToolDef[];
  /** The source's totals for the whole run. */
  readonly reported?: Trace['reported'];
  /** Tokens of the recorder's helpers: part of the totals, but not a sign of missing calls. */
  readonly helpers?: Usage;
  readonly outcomes?: Trace['outcomes'];
  readonly resources?: Trace['resources'];
  readonly meta?: Record<string, unknown>;
  /**
   * Capabilities that the format can record. That alone proves nothing: the builder reports `full`
   * only if this recording uses them, and less if fields are missing or a gap was found.
   */
  readonly records: Partial<Captured>;
  /** Explicit empty lists, which prove that a capability was recorded and nothing occurred. */
  readonly empty?: readonly Capability[];
  /** Signs of missing parts that only the adapter can see. */
  readonly gaps?: readonly GapNote[];
  /** Numbers of steps as the source counts them. Fewer found is a gap. */
  readonly counts?: { readonly llmCalls?: number; readonly toolCalls?: number };
  /** Names of called tools that the source mentions anywhere. A name without a step is a gap. */
  readonly mentions?: readonly string[];
  /** A change of the speaking agent between two LLM calls is an implicit handoff. */
  readonly speakersHandOff?: boolean;
  /** The replies came from a recording, so its order counts, not clocks. */
  readonly isReplayed?: boolean;
  readonly warnings?: Trace['warnings'];
}

/** Evidence that the recording is incomplete, with details such as a number or id. */
export interface GapNote {
  readonly gap: Gap;
  readonly detail?: string;
}

/** A tool call as a message asks for it. */
export interface Call {
  readonly id?: string;
  readonly name: string;
  /** The recorded name, from which the builder splits off the server. */
  readonly rawName?: string;
  readonly args?: unknown;
  /** The arguments as written, when they could not be parsed. */
  readonly argsRaw?: string;
  readonly by?: ToolStep['by'];
  readonly actor?: ToolStep['actor'];
  readonly server?: string;
}

/**
 * A recorded message. With the role `tool` it is the result of a call; several results are several
 * turns.
 */
export interface Turn extends Omit<Message, 'calls'> {
  readonly calls?: readonly Call[];
  /** The result value, if it is more than text. Otherwise the text parts are the result. */
  readonly result?: unknown;
  readonly status?: Step['status'];
  readonly error?: Failure;
  readonly agent?: string;
  /** Epoch milliseconds. */
  readonly at?: number;
}

interface DraftBase {
  /** The source's id of the step, such as a span id, which other steps reference as parent. */
  readonly key?: string;
  readonly parent?: string;
  readonly agent?: string;
  /** Position among the requests of the run, if recorded. */
  readonly sequence?: number;
  readonly t0?: number;
  readonly t1?: number;
  readonly timing?: Step['timing'];
  /** Absent if the source does not say. */
  readonly status?: Step['status'];
  readonly error?: Failure;
  readonly raw?: Step['raw'];
  readonly meta?: Record<string, unknown>;
}

type Own<S extends Step> = Omit<S, keyof Step | 'turn'>;

export interface DraftLlm extends DraftBase, Omit<Own<LlmStep>, 'input' | 'output'> {
  readonly kind: 'llm';
  /** Why the reply may hold more than was recorded of it. */
  readonly gap?: Gap;
  /** Observed as a separate request: two of these are two calls, whatever their replies' ids. */
  readonly isRequest?: boolean;
  readonly input?: readonly Turn[];
  readonly output?: Turn;
}

export interface DraftTool
  extends DraftBase,
    Omit<Own<ToolStep>, 'by' | 'evidence' | 'requestedBy'> {
  readonly kind: 'tool';
  readonly by?: ToolStep['by'];
  /** `span` when left out: the step was recorded as something that ran. */
  readonly evidence?: ToolStep['evidence'];
}

export interface DraftAgent extends DraftBase, Omit<Own<AgentStep>, 'input' | 'output'> {
  readonly kind: 'agent';
  readonly input?: readonly Turn[];
  readonly output?: Turn;
  /** Its messages are the whole conversation, so they show every call. */
  readonly isWhole?: boolean;
  /** Sums over the agent's calls, used only if no LLM call reports its own. */
  readonly usage?: Usage;
  readonly cost?: Cost;
}

export interface DraftHandoff extends DraftBase, Omit<Own<HandoffStep>, 'from' | 'mode'> {
  readonly kind: 'handoff';
  /** The agent of the step when left out. `via` is the key of a tool step. */
  readonly from?: string;
  readonly mode?: HandoffStep['mode'];
}

export interface DraftMessage extends DraftBase, Own<MessageStep> {
  readonly kind: 'message';
}
export interface DraftRetrieval extends DraftBase, Own<RetrievalStep> {
  readonly kind: 'retrieval';
}
export interface DraftGuardrail extends DraftBase, Own<GuardrailStep> {
  readonly kind: 'guardrail';
}
export interface DraftEvent extends DraftBase, Own<EventStep> {
  readonly kind: 'event';
}

/** A framework span that keeps the tree together and gives no step. */
export interface DraftSpan extends DraftBase {
  readonly kind: 'span';
}

export type DraftStep =
  | DraftLlm
  | DraftTool
  | DraftAgent
  | DraftHandoff
  | DraftMessage
  | DraftRetrieval
  | DraftGuardrail
  | DraftEvent
  | DraftSpan;

/** Status and error of a failed or interrupted run. Otherwise the steps decide. */
export function endOf(
  error: Failure | undefined,
  isCutOff: boolean,
): Pick<Draft, 'status' | 'error'> {
  if (error !== undefined) return { status: 'error', error };
  return isCutOff ? { status: 'incomplete' } : {};
}

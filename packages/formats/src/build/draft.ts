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

/** What an adapter knows about one run, before duplicates are folded, calls joined and steps put in order. */
export interface Draft {
  /** The run's own id; without one the place of the record is its id. */
  readonly id?: string;
  readonly source: Omit<TraceSource, 'file' | 'line'>;
  readonly task?: Trace['task'];
  /** In the order of the recording. */
  readonly steps: readonly DraftStep[];
  /** Messages that belong to no recorded LLM call, such as tool results after the last one. */
  readonly turns?: readonly Turn[];
  /** The answer, where the source says it in so many words; else the builder finds it. */
  readonly final?: Trace['final'];
  readonly status?: Trace['status'];
  /** How the conversation ended, where the source says it. */
  readonly ending?: ConversationEnding;
  readonly error?: Failure;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly agents?: readonly Agent[];
  readonly tools?: readonly ToolDef[];
  /** Totals the source claims for the whole run; they win over sums. */
  readonly reported?: Trace['reported'];
  /** Tokens that the recorder's own helpers used beside the run's calls: part of its totals, and no sign of missing calls. */
  readonly helpers?: Usage;
  readonly outcomes?: Trace['outcomes'];
  readonly resources?: Trace['resources'];
  readonly meta?: Record<string, unknown>;
  /**
   * What this format has a place for. That alone proves nothing: the builder says `full` only where this recording shows
   * that the place was used, and lowers it where steps lack the field or a gap was found.
   */
  readonly records: Partial<Captured>;
  /** Lists that are there and empty: what they are for was recorded, and there was none. */
  readonly empty?: readonly Capability[];
  /** Signs of missing parts that only the adapter can see. */
  readonly gaps?: readonly GapNote[];
  /** Numbers of steps as the source counts them. Fewer found is a gap. */
  readonly counts?: { readonly llmCalls?: number; readonly toolCalls?: number };
  /** Names of tools that the source says were called, wherever it says so. One that no step shows is a gap. */
  readonly mentions?: readonly string[];
  /** A change of the speaking agent between two LLM calls is a handoff, though nothing says so. */
  readonly speakersHandOff?: boolean;
  /** The replies came from a recording: what came between them is read from it, not from clocks. */
  readonly isReplayed?: boolean;
  readonly warnings?: Trace['warnings'];
}

/** A sign that the recording holds less than happened, and what is known about it: a number, an id. */
export interface GapNote {
  readonly gap: Gap;
  readonly detail?: string;
}

/** A tool call as a message asks for it. */
export interface Call {
  readonly id?: string;
  readonly name: string;
  /** The name as recorded, where the server was taken out of it; the builder does that. */
  readonly rawName?: string;
  readonly args?: unknown;
  /** The arguments as written, when they could not be parsed. */
  readonly argsRaw?: string;
  readonly by?: ToolStep['by'];
  readonly actor?: ToolStep['actor'];
  readonly server?: string;
}

/** A message as recorded. One with the role `tool` is the result of a call; several results are several turns. */
export interface Turn extends Omit<Message, 'calls'> {
  readonly calls?: readonly Call[];
  /** Of a result: the value, where it is more than text; else the text of the parts is the result. */
  readonly result?: unknown;
  readonly status?: Step['status'];
  readonly error?: Failure;
  readonly agent?: string;
  /** Epoch milliseconds. */
  readonly at?: number;
}

interface DraftBase {
  /** The source's own id of the step, e.g. a span id; other steps name it as their parent. */
  readonly key?: string;
  readonly parent?: string;
  readonly agent?: string;
  /** The place among the requests of the run, where the recording has one. */
  readonly sequence?: number;
  readonly t0?: number;
  readonly t1?: number;
  readonly timing?: Step['timing'];
  /** Left out where the source does not say. */
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
  /** Seen as a request of its own: two of these are two calls, whatever ids their replies have. */
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
  /** Its messages are the whole conversation, not just what was asked and answered: they show every call. */
  readonly isWhole?: boolean;
  /** Sums over the agent's calls; used only where no LLM call says its own. */
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

/** Plumbing of a framework: it holds the tree together and gives no step. */
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

/** Status and error of a run that failed or was cut off; otherwise the steps decide. */
export function endOf(
  error: Failure | undefined,
  isCutOff: boolean,
): Pick<Draft, 'status' | 'error'> {
  if (error !== undefined) return { status: 'error', error };
  return isCutOff ? { status: 'incomplete' } : {};
}

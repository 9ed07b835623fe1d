/**
 * The trace: everything that happened in one run of an agent, whatever recorded it.
 *
 * One flat, totally ordered `steps` list with parent ids serves both sequence metrics and trees.
 * `undefined` always means *not captured*, never *empty*. The `captured` map records this per
 * capability, so that a check can report missing data instead of passing.
 */
export const TRACE_SCHEMA = 'agentci.trace/1';

export interface Trace {
  schema: typeof TRACE_SCHEMA;
  /** The id of the run, not an OpenTelemetry trace id. */
  id: string;
  source: TraceSource;
  task?: { id?: string; input?: Message[]; expected?: unknown };
  /** Epoch milliseconds. */
  startedAt?: number;
  endedAt?: number;
  status: 'ok' | 'error' | 'incomplete' | 'unknown';
  error?: Failure;
  final?: {
    text?: string;
    data?: unknown;
    parts?: Part[];
    agent?: string;
    step?: string;
    /** Why the answer ended, if the source reports it for the run and not for a model call. */
    finish?: LlmStep['finish'];
  };
  agents: Agent[];
  steps: Step[];
  tools?: ToolDef[];
  /** Totals reported by the source. */
  reported?: {
    usage?: Usage;
    cost?: Cost;
    durationMs?: number;
    turns?: number;
    llmCalls?: number;
    /** Time from the start of the run to the first piece of a streamed answer. */
    ttftMs?: number;
    /** Wall time of a live run by the runner's clock. */
    wallMs?: number;
    /** Time to load the agent, which does not count as its latency. */
    coldStartMs?: number;
  };
  /** Third-party verdicts: rewards, scores, security labels. */
  outcomes?: { name: string; value: number | boolean | string; by?: string }[];
  resources?: ResourceSample[];
  /** The turns of a run with several user messages. Absent for a single question and answer. */
  conversation?: Conversation;
  /** The state of the world after the run, as the `state` program printed it. */
  endState?: { value: unknown } | { error: string };
  meta: Record<string, unknown>;
  captured: Captured;
  /** Names of the secrets that were masked in its texts as `[NAME]` before it was stored. */
  masked?: string[];
  warnings: { code: string; message: string; step?: string }[];
}

export const ENDINGS = [
  'user_done',
  'agent_done',
  'max_turns',
  'out_of_scope',
  'budget',
  'timeout',
  'error',
] as const;
export type ConversationEnding = (typeof ENDINGS)[number];

/** Endings that stopped the agent early, so its later actions are unknown. */
export const UNFINISHED: ReadonlySet<ConversationEnding> = new Set([
  'out_of_scope',
  'budget',
  'timeout',
  'error',
]);

export interface Conversation {
  id?: string;
  /** Why it ended. Absent if the recording does not say. */
  ending?: ConversationEnding;
  turns: Turn[];
  /** A fault of the simulated user, because of which the agent cannot be judged. */
  fault?: {
    kind: 'script' | 'simulator';
    message: string;
    turn?: number;
    /** The model that plays the user did not answer, which is not a mistake of the script. */
    unavailable?: true;
  };
}

/** One user message and the agent's answer. The steps between carry its number as `userTurn`. */
export interface Turn {
  turn: number;
  message: string;
  /** Absent if no answer was captured. */
  final?: Trace['final'];
  reported?: Trace['reported'];
  /** Set if it differs from that of the whole trace. */
  captured?: Captured;
}

export interface TraceSource {
  format: string;
  dialects?: string[];
  version?: string;
  sdk?: string;
  traceIds?: string[];
  sha256?: string;
  /** Source of the record: `file`, and the line for JSONL. */
  file?: string;
  line?: number;
}

export const CAPABILITIES = [
  'toolCalls',
  'toolArgs',
  'toolResults',
  'toolErrors',
  'llmCalls',
  'prompts',
  'usage',
  'cost',
  'timing',
  'agents',
  'handoffs',
  'messages',
  'retrieval',
  'final',
] as const;
export type Capability = (typeof CAPABILITIES)[number];
export type CaptureLevel = 'full' | 'partial' | 'none';
export type Captured = Record<Capability, CaptureLevel>;

export interface Agent {
  id: string;
  name: string;
  role?: string;
  model?: string;
  parent?: string;
  tools?: string[];
  canHandOffTo?: string[];
  kind?: 'agent' | 'workflow' | 'user' | 'remote';
  authorityLevel?: number;
  canDelegate?: boolean;
}

interface StepBase {
  id: string;
  seq: number;
  parent?: string;
  agent?: string;
  /** The model round. Tool steps of one turn are parallel siblings. */
  turn?: number;
  /** The turn of the conversation, from 1. */
  userTurn?: number;
  t0?: number;
  t1?: number;
  timing?: 'measured' | 'estimated';
  status: 'ok' | 'error' | 'denied' | 'cancelled' | 'pending' | 'unknown';
  error?: Failure;
  raw?: { spanId?: string; ref?: string };
  meta?: Record<string, unknown>;
}

export type Step =
  | LlmStep
  | ToolStep
  | AgentStep
  | HandoffStep
  | MessageStep
  | RetrievalStep
  | GuardrailStep
  | EventStep;

export interface LlmStep extends StepBase {
  kind: 'llm';
  provider?: string;
  model?: string;
  requestModel?: string;
  input?: Message[];
  inputIsDelta?: boolean;
  output?: Message;
  finish?: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'error' | 'other';
  usage?: Usage;
  cost?: Cost;
  ttftMs?: number;
  cacheHit?: boolean;
  params?: Record<string, unknown>;
  responseId?: string;
}

export interface ToolStep extends StepBase {
  kind: 'tool';
  callId?: string;
  name: string;
  /** The recorded name, if it includes a server: `mcp__files__read` is `read` of `files`. */
  rawName?: string;
  server?: string;
  args?: unknown;
  /** The arguments as written, if they could not be parsed. */
  argsRaw?: string;
  result?: unknown;
  resultParts?: Part[];
  by: 'client' | 'provider' | 'mcp' | 'subagent';
  actor?: 'assistant' | 'user' | 'program';
  attempt?: number;
  evidence: ('span' | 'message' | 'proxy' | 'mcp')[];
  /** Id of the LLM step that requested the call. */
  requestedBy?: string;
}

export interface AgentStep extends StepBase {
  kind: 'agent';
  name: string;
  input?: Message[];
  output?: Message;
}

export interface HandoffStep extends StepBase {
  kind: 'handoff';
  from: string;
  to: string;
  mode: 'pass' | 'return' | 'unknown';
  /** Id of the tool step that carried it. */
  via?: string;
  reason?: string;
}

export interface MessageStep extends StepBase {
  kind: 'message';
  from: string;
  to: string | string[];
  type?: 'request' | 'response' | 'notify' | 'delegate' | 'negotiate' | 'collaborate' | 'conflict';
  /** The source's own name for the type. */
  messageType?: string;
  responseMs?: number;
  content: Part[];
  replyTo?: string;
}

export interface RetrievalStep extends StepBase {
  kind: 'retrieval';
  query?: string;
  store?: string;
  documents: { id?: string; text?: string; score?: number; uri?: string; meta?: unknown }[];
}

export interface GuardrailStep extends StepBase {
  kind: 'guardrail';
  name: string;
  triggered: boolean;
  stage?: 'input' | 'output' | 'tool';
}

/** Well-known names: conflict.raised, conflict.resolved, state.write, vote, approval, compaction, retry. */
export interface EventStep extends StepBase {
  kind: 'event';
  name: string;
  data?: unknown;
}

export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  name?: string;
  parts: Part[];
  calls?: { id?: string; name: string; args?: unknown }[];
  callId?: string;
}

export type Part =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'json'; data: unknown }
  | {
      type: 'media';
      modality: 'image' | 'audio' | 'video' | 'document';
      mime?: string;
      uri?: string;
      blob?: string;
      bytes?: number;
      transcript?: string;
    };

export interface Usage {
  /** Includes cached tokens. */
  input?: number;
  /** Includes reasoning tokens. */
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
  audioIn?: number;
  audioOut?: number;
  total?: number;
}

export interface Cost {
  usd: number;
  source: 'reported' | 'computed';
  /** The dated price table of a computed cost. */
  prices?: string;
}

export interface Failure {
  type?: string;
  message?: string;
  code?: string | number;
  stack?: string;
  retryable?: boolean;
}

export interface ToolDef {
  name: string;
  description?: string;
  schema?: unknown;
  server?: string;
}

export interface ResourceSample {
  t: number;
  durationMs?: number;
  cpuPct?: number;
  rssMb?: number;
  gpuPct?: number;
  gpuMb?: number;
  joules?: number;
  co2g?: number;
  source: 'measured' | 'estimated';
  agent?: string;
  step?: string;
}

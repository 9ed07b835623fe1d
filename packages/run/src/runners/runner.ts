import type { Cell } from '@agentci/results';
import type { ResourceSample, Trace } from '@agentci/trace';
import { type AnswerRule, whyNoAnswer } from './answer.ts';

/** One execution of the agent: its input, and the signal that ends it. */
export interface RunRequest {
  readonly query: string;
  readonly id: string;
  /** Number of the repeat, from 1. */
  readonly run: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /**
   * The variables of the query with its cell. Absent if the spec has none, then braces are plain
   * text.
   */
  readonly vars?: Readonly<Record<string, unknown>> | undefined;
  /** The combination of the matrix. */
  readonly cell?: Cell | undefined;
  /**
   * Turn of a conversation. Absent for a single query. In a conversation `query` is the first
   * message.
   */
  readonly turn?: TurnRequest | undefined;
  readonly signal: AbortSignal;
}

/** A turn of a conversation for the agent. */
export interface TurnRequest {
  /** Unique id of the conversation, the same in all its turns. */
  readonly conversation: string;
  /** From 1. */
  readonly turn: number;
  readonly message: string;
  /** All messages so far, with the current one. Absent if the agent keeps them itself. */
  readonly messages?: readonly ChatMessage[];
}

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** The input of an agent as data: for a query, or for a turn. */
export function inputOf({
  query,
  id,
  run,
  metadata,
  vars,
  turn,
}: RunRequest): Readonly<Record<string, unknown>> {
  const input = { query, id, run, metadata: metadata ?? {}, vars: vars ?? {} };
  return turn === undefined ? input : { ...input, ...turn };
}

/** Identifies a run of a query for the capture. */
export interface RunAbout {
  readonly id: string;
  readonly run: number;
  /** The combination of a matrix. */
  readonly cell?: Readonly<Record<string, string>> | undefined;
  /** The turn of a conversation. All turns of one run belong together. */
  readonly turn?: Pick<TurnRequest, 'conversation' | 'turn'> | undefined;
}

/** The text at `http.answer`. */
export interface PointedAnswer {
  readonly text: string;
  /** The document and the path of the text in it. Absent if `value` is that document. */
  readonly body?: unknown;
  readonly pointer?: string;
}

/** The output of an agent, before it is parsed as a trace. */
export interface RunOutput {
  /**
   * A string is an answer or the text of a recording. Anything else is the simple form or a trace.
   */
  readonly value: unknown;
  /**
   * The text of the answer, if the spec has its path. Other facts of the run are read from the
   * rest.
   */
  readonly answer?: PointedAnswer;
  /** Wall time of the agent alone. Used if the trace has none. */
  readonly wallMs: number;
  /**
   * Time for starting a thread and loading the agent's module, if this run had to wait for it. Not
   * part of `wallMs`.
   */
  readonly coldStartMs?: number;
  readonly stderr?: string;
  /** Resource usage of the agent's process, if it was sampled. */
  readonly resources?: readonly ResourceSample[];
  /** Time from the start to the first piece of a streamed answer. */
  readonly ttftMs?: number;
  /** An error object is an answer of this agent. */
  readonly acceptsErrors?: boolean;
  /** Warnings to add to the trace. */
  readonly warnings?: Trace['warnings'];
  /** The observation of the run, if the agent was captured. */
  readonly seen?: ObservedRun;
}

/** An observation of a run from outside the agent. */
export interface ObservedRun {
  /**
   * Absent if nothing was observed. Reading it may take a moment, so do not read it before the
   * agent has its next query.
   */
  readonly trace?: Trace | undefined;
  readonly warnings: Trace['warnings'];
}

/**
 * `stopped`: the agent did not end by itself. `left`: it ended and left child processes running.
 */
export type AgentEnd = 'itself' | 'stopped' | 'left';

/** Activity that an agent is known to have started by its answer, if it can be counted. */
export interface Begun {
  /** Number of requests to models. */
  readonly asked?: number | undefined;
  /** False: nothing in it knows the address for spans. */
  readonly sendsSpans?: boolean | undefined;
}

/** Captures one agent at a time. */
export interface AgentWatch {
  /** The complete environment of the agent. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Arguments to insert after the program's name. */
  readonly args: readonly string[];
  /** Rewrites an argument of the program for the capture. */
  readonly rewrite?: (argument: string) => string;
  /** Headers to send with a query, if the agent was started elsewhere. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Starts a run. Everything observed from now on belongs to it. Called before the agent gets its
   * query.
   */
  readonly begin: (about: RunAbout) => void;
  /** Waits for pending activity. */
  readonly end: (how: AgentEnd, begun?: Begun) => Promise<ObservedRun>;
  readonly close: () => Promise<void>;
}

/**
 * Captures agents from outside while they run. The engine creates one, and a runner opens a
 * `AgentWatch` per agent.
 */
export interface Watch {
  readonly open: () => Promise<AgentWatch>;
}

/**
 * Gets single answers from an agent. Created once per run, shared by all workers, closed at the
 * end.
 */
export interface Runner {
  readonly run: (request: RunRequest) => Promise<RunOutput>;
  /** Opens a shared resource for the turns of a conversation: a thread, a process, cookies. */
  readonly open?: () => Promise<Session>;
  /** Prepares an agent for the next run, if starting it takes time. The run reports any errors. */
  readonly warm?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Runs the turns of one conversation, one after the other. */
export interface Session {
  readonly run: (request: RunRequest) => Promise<RunOutput>;
  /** Called after the last turn, even if it failed. */
  readonly close: () => Promise<void>;
}

/**
 * External dependencies of a runner, passed in so that only the command line reads the environment.
 */
export interface RunnerEnvironment {
  /** The spec's folder, base of relative paths. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly workers: number;
  /** A metric needs CPU, memory or energy of the agent. */
  readonly watchResources?: boolean;
  readonly watch?: Watch | undefined;
  /**
   * Called for an answered run whose answer turned out to be invalid. Its verdict may exist
   * already.
   */
  readonly onVoid?: ((run: RunAbout, why: string) => void) | undefined;
}

/**
 * The agent gave no usable answer. Errors of kind `infra` (rate limit, timeout, connection, 5xx)
 * are worth a retry. Errors of kind `agent` would only repeat.
 */
export class AgentError extends Error {
  readonly kind: 'agent' | 'infra';
  readonly stderr: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** It explains the timeout, so it is more useful than the timeout itself. */
  readonly explainsTimeout: boolean;
  /** The time limit for an answer was exceeded. */
  readonly isTimeout: boolean;

  constructor(
    kind: 'agent' | 'infra',
    message: string,
    options: {
      stderr?: string | undefined;
      retryAfterMs?: number | undefined;
      explainsTimeout?: boolean;
      isTimeout?: boolean;
    } = {},
  ) {
    super(message);
    this.name = 'AgentError';
    this.kind = kind;
    this.stderr = options.stderr;
    this.retryAfterMs = options.retryAfterMs;
    this.explainsTimeout = options.explainsTimeout ?? false;
    this.isTimeout = options.isTimeout ?? false;
  }
}

/** Returns a possible answer. Throws an error of the agent for anything else. */
export function refuseNoAnswer(
  value: unknown,
  rule: AnswerRule & { readonly stderr?: string | undefined },
): void {
  const why = whyNoAnswer(value, rule);
  if (why !== undefined) throw new AgentError('agent', `the agent ${why}`, { stderr: rule.stderr });
}

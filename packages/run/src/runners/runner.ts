import type { Cell } from '@agentci/results';
import type { ResourceSample, Trace } from '@agentci/trace';
import { type AnswerRule, whyNoAnswer } from './answer.ts';

/** One execution to make: what the agent is asked, and the signal that ends it. */
export interface RunRequest {
  readonly query: string;
  readonly id: string;
  /** Which repeat this is, from 1. */
  readonly run: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The variables of the query, its cell among them. Absent where the spec has none: braces are plain text then. */
  readonly vars?: Readonly<Record<string, unknown>> | undefined;
  /** The combination of the matrix. */
  readonly cell?: Cell | undefined;
  /** Which turn of a conversation it is; absent for a query on its own. `query` is the first message then. */
  readonly turn?: TurnRequest | undefined;
  readonly signal: AbortSignal;
}

/** A turn of a conversation as the agent is told of it. */
export interface TurnRequest {
  /** The same in all turns of one conversation, another in every other. */
  readonly conversation: string;
  /** From 1. */
  readonly turn: number;
  readonly message: string;
  /** Everything said so far, this message included; absent where the agent keeps it by itself. */
  readonly messages?: readonly ChatMessage[];
}

export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What an agent is given, as data: of a query, and of a turn where it is one. */
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

/** Which run of which query it is, for whoever watches. */
export interface RunAbout {
  readonly id: string;
  readonly run: number;
  /** The combination of a matrix. */
  readonly cell?: Readonly<Record<string, string>> | undefined;
  /** The turn of a conversation; the turns of one run belong together. */
  readonly turn?: Pick<TurnRequest, 'conversation' | 'turn'> | undefined;
}

/** The text at `http.answer`. */
export interface PointedAnswer {
  readonly text: string;
  /** The document it is in, and where; absent when `value` is that document. */
  readonly body?: unknown;
  readonly pointer?: string;
}

/** What came back, before anyone read it as a trace. */
export interface RunOutput {
  /** A string is an answer or the text of a recording; anything else is the simple form or a trace. */
  readonly value: unknown;
  /** The answer's words, where the spec says where they are; what else is known of the run is read from the rest. */
  readonly answer?: PointedAnswer;
  /** Wall time of the agent alone, used when the trace has none. */
  readonly wallMs: number;
  /** Starting a thread and loading the agent's module, where this run had to wait for it. Not part of `wallMs`. */
  readonly coldStartMs?: number;
  readonly stderr?: string;
  /** What the agent's process used, when it was watched. */
  readonly resources?: readonly ResourceSample[];
  /** From the start to the first piece of a streamed answer. */
  readonly ttftMs?: number;
  /** An error object is an answer of this agent. */
  readonly acceptsErrors?: boolean;
  /** What the trace should say beside what the agent gave. */
  readonly warnings?: Trace['warnings'];
  /** What was seen of the run, where the agent was watched. */
  readonly seen?: Sighting;
}

/** What was seen of a run from outside of the agent. */
export interface Sighting {
  /** Absent where nothing was seen. Reading it may take a moment: not before the agent has its next query. */
  readonly trace?: Trace | undefined;
  readonly warnings: Trace['warnings'];
}

/** `stopped`: the agent did not end by itself. `left`: it did, and processes that it had started were still running. */
export type AgentEnd = 'itself' | 'stopped' | 'left';

/** What an agent is known to have begun by the time it answered, where it can be asked. */
export interface Begun {
  /** Requests to models. */
  readonly asked?: number | undefined;
  /** False: nothing in it knows where spans go. */
  readonly sendsSpans?: boolean | undefined;
}

/** A place from which one agent at a time is watched. */
export interface Lookout {
  /** The agent's whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** To be put after the program's name. */
  readonly args: readonly string[];
  /** An argument of the program, as it must be while it is watched. */
  readonly rewrite?: (argument: string) => string;
  /** To be sent with a query, where the agent was started elsewhere. */
  readonly headers?: Readonly<Record<string, string>>;
  /** From now on what is seen belongs to this run. Called before the agent gets its query. */
  readonly begin: (about: RunAbout) => void;
  /** Waits for what is under way. */
  readonly end: (how: AgentEnd, begun?: Begun) => Promise<Sighting>;
  readonly close: () => Promise<void>;
}

/** Watches agents from outside while they run. The engine makes one; a runner asks it for a lookout per agent. */
export interface Watch {
  readonly open: () => Promise<Lookout>;
}

/** Gets one answer out of an agent. Created once a run, used by all workers, closed at the end. */
export interface Runner {
  readonly run: (request: RunRequest) => Promise<RunOutput>;
  /** For the turns of one conversation, where they have something in common: a thread, a process, cookies. */
  readonly open?: () => Promise<Session>;
  /** Makes an agent ready for the next run, where starting it takes time; what goes wrong is told by the run. */
  readonly warm?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Runs the turns of one conversation, one after the other. */
export interface Session {
  readonly run: (request: RunRequest) => Promise<RunOutput>;
  /** After the last turn, whether or not all went well. */
  readonly close: () => Promise<void>;
}

/** What a runner needs from the outside world, handed in so that only the command line reads the environment. */
export interface RunnerEnvironment {
  /** The spec's folder: relative paths start here. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly workers: number;
  /** A metric asks for CPU, memory or energy of the agent. */
  readonly watchResources?: boolean;
  readonly watch?: Watch | undefined;
  /** Called with a run that was answered and whose answer turned out not to count. Its verdict may have been given. */
  readonly onVoid?: ((run: RunAbout, why: string) => void) | undefined;
}

/**
 * The agent gave no usable answer. `infra` ones (rate limit, timeout, connection, 5xx) are worth another try;
 * `agent` ones would only fail again.
 */
export class AgentError extends Error {
  readonly kind: 'agent' | 'infra';
  readonly stderr: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** It says why the time ran out, so it is worth more than the fact that it did. */
  readonly explainsTimeout: boolean;
  /** The time for an answer was up. */
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

/** Passes on what may be an answer; anything else is an error of the agent. */
export function refuseNoAnswer(
  value: unknown,
  rule: AnswerRule & { readonly stderr?: string | undefined },
): void {
  const why = whyNoAnswer(value, rule);
  if (why !== undefined) throw new AgentError('agent', `the agent ${why}`, { stderr: rule.stderr });
}

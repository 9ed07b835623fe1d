import type { ResolvedRubric } from './rubric.ts';

export const VERDICT_LABELS = ['pass', 'borderline', 'fail'] as const;
export type VerdictLabel = (typeof VERDICT_LABELS)[number];

/** A judge's verdict on one answer. The score decides. The label matters if several judges vote. */
export interface Verdict {
  readonly rationale: string;
  /** 1 to 5. */
  readonly score: number;
  readonly label: VerdictLabel;
  readonly record?: JudgeRecord;
}

/** Why there is no verdict. Never a pass or a score. */
export interface JudgeFailure {
  readonly error: true;
  readonly kind: JudgeFailureKind;
  readonly message: string;
  readonly record?: JudgeRecord;
}

export type JudgeFailureKind =
  | 'no_key'
  | 'no_model'
  | 'not_recorded'
  | 'budget'
  | 'infra'
  | 'provider'
  | 'refusal'
  | 'invalid'
  | 'interrupted';

/** Provenance of a verdict, stored with the result for tracing and repetition. */
export interface JudgeRecord {
  /** `provider:model`. */
  readonly model: string;
  readonly prompt_hash: string;
  readonly rubric: { readonly id: string; readonly version: string };
  readonly vote: number;
  /** True if this run made no call for it. */
  readonly cached: boolean;
  /** Calls in this run, including repairs and retries. */
  readonly calls: number;
  /** The judge's reply, verbatim. */
  readonly raw?: string;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  /** Cost in this run. Null if the model's price is unknown. */
  readonly cost_usd: number | null;
  /** Settings that the provider ignored, such as a temperature. */
  readonly warnings?: readonly string[];
}

export interface JudgeQuestion {
  readonly rubric: ResolvedRubric;
  readonly query: string;
  readonly answer: string;
  /**
   * `answer` is a whole conversation, one JSON object per turn and line. All of the agent's
   * messages are scored.
   */
  readonly isConversation?: boolean;
  /** Texts the answer should be grounded in. */
  readonly context?: readonly string[];
  /** 0, the default, is the single judge. 1 and up are ensemble members. */
  readonly vote?: number;
  /** Repetition number, for measuring the judge itself. */
  readonly repeat?: number;
}

/** A task for a judge's model: the instruction, the texts, and the expected JSON reply. */
export interface JudgeTask {
  readonly id: string;
  readonly version: string;
  /** The trusted instruction. */
  readonly instruction: string;
  /** Shape of the reply, as shown to the model. */
  readonly format: string;
  /** Untrusted texts, which never instruct. */
  readonly blocks: readonly { readonly name: string; readonly text: string }[];
  /** Name of the reply in messages. Default: "reply". */
  readonly what?: string;
  /** Seed for servers that accept one. */
  readonly seed?: number;
  /** Finds a problem in a reply. A reply with a problem after one repair is a failure. */
  readonly check: (reply: unknown) => string | undefined;
}

export interface TaskReply {
  readonly reply: unknown;
  readonly record: JudgeRecord;
}

/** Scores answers against rubrics. `createJudge` creates one from a `judge_config`. */
export interface Judge {
  readonly ensemble?: { readonly size: number; readonly enabled: boolean };
  ask(question: JudgeQuestion): Promise<Verdict | JudgeFailure>;
  /**
   * Performs tasks other than scoring, such as splitting an answer into claims. Absent if the judge
   * cannot.
   */
  perform?(task: JudgeTask): Promise<TaskReply | JudgeFailure>;
  /** Embeds texts with a model of the judge's provider. */
  embed?(texts: readonly string[], model?: string): Promise<JudgeEmbeddings>;
  /** Usage so far. */
  usage?(): JudgeUsage;
}

export type JudgeEmbeddings =
  | { readonly ok: true; readonly vectors: readonly (readonly number[])[]; readonly model: string }
  | { readonly ok: false; readonly reason: string };

export interface JudgeUsage {
  readonly calls: number;
  /** Number of cached verdicts. */
  readonly cached: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Null if any call had no known price. */
  readonly cost_usd: number | null;
  /** Models without a known price. */
  readonly unpriced: readonly string[];
}

export const isFailure = (reply: object): reply is JudgeFailure => 'error' in reply;

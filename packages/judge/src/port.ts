import type { ResolvedRubric } from './rubric.ts';

export const VERDICT_LABELS = ['pass', 'borderline', 'fail'] as const;
export type VerdictLabel = (typeof VERDICT_LABELS)[number];

/** What a judge says of one answer. The score decides; the label matters when several judges vote. */
export interface Verdict {
  readonly rationale: string;
  /** 1 to 5. */
  readonly score: number;
  readonly label: VerdictLabel;
  readonly record?: JudgeRecord;
}

/** Why there is no verdict. Never a pass and never a score. */
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

/** How a verdict came about, kept with the result so that it can be traced and repeated. */
export interface JudgeRecord {
  /** `provider:model`. */
  readonly model: string;
  readonly prompt_hash: string;
  readonly rubric: { readonly id: string; readonly version: string };
  readonly vote: number;
  /** True when no call was made for it in this run. */
  readonly cached: boolean;
  /** Calls made in this run, repair and retries included. */
  readonly calls: number;
  /** The judge's own words. */
  readonly raw?: string;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  /** Dollars spent in this run; null when the price of the model is not known. */
  readonly cost_usd: number | null;
  /** What the provider did not honour, e.g. a temperature. */
  readonly warnings?: readonly string[];
}

export interface JudgeQuestion {
  readonly rubric: ResolvedRubric;
  readonly query: string;
  readonly answer: string;
  /** `answer` is a whole conversation, one JSON object per line and turn: all that the agent says in it is scored. */
  readonly isConversation?: boolean;
  /** Texts the answer should be grounded in. */
  readonly context?: readonly string[];
  /** 0, the default, is the single judge; 1 and up are the members of the ensemble. */
  readonly vote?: number;
  /** Which time the same question is put, when the judge itself is measured. */
  readonly repeat?: number;
}

/** A piece of work for a judge's model: what to do, on which texts, and what its JSON reply must look like. */
export interface JudgeTask {
  readonly id: string;
  readonly version: string;
  /** What to do, in our words. */
  readonly instruction: string;
  /** The shape of the reply, shown to the model. */
  readonly format: string;
  /** Texts of unknown origin; they never instruct. */
  readonly blocks: readonly { readonly name: string; readonly text: string }[];
  /** What the reply is, for messages; "reply" when not given. */
  readonly what?: string;
  /** For servers that take one: other words for another number, the same for the same. */
  readonly seed?: number;
  /** Says what is wrong with a reply, or nothing. A reply that is wrong twice is a failure. */
  readonly check: (reply: unknown) => string | undefined;
}

export interface TaskReply {
  readonly reply: unknown;
  readonly record: JudgeRecord;
}

/** Anything that scores an answer against a rubric. `createJudge` makes one from a `judge_config`. */
export interface Judge {
  readonly ensemble?: { readonly size: number; readonly enabled: boolean };
  ask(question: JudgeQuestion): Promise<Verdict | JudgeFailure>;
  /** Work other than scoring, such as splitting an answer into claims. A judge that cannot do it has no such method. */
  perform?(task: JudgeTask): Promise<TaskReply | JudgeFailure>;
  /** Vectors of texts, from an embedding model of the judge's provider. */
  embed?(texts: readonly string[], model?: string): Promise<JudgeEmbeddings>;
  /** What was spent so far. */
  usage?(): JudgeUsage;
}

export type JudgeEmbeddings =
  | { readonly ok: true; readonly vectors: readonly (readonly number[])[]; readonly model: string }
  | { readonly ok: false; readonly reason: string };

export interface JudgeUsage {
  readonly calls: number;
  /** Verdicts taken from the cache. */
  readonly cached: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Null as soon as one call had no known price. */
  readonly cost_usd: number | null;
  /** Models whose calls could not be priced. */
  readonly unpriced: readonly string[];
}

export const isFailure = (reply: object): reply is JudgeFailure => 'error' in reply;

import type { Cell } from './cell.ts';
import type {
  CassetteUse,
  CheckStatus,
  ConversationResult,
  LayerResult,
  MetricResult,
  QueryError,
  QueryResult,
  RunSummary,
  Stability,
  TraceWarning,
} from './run-result.ts';
import { checksOf, isUnmeasured } from './status.ts';

/** Storage of result texts. */
export interface ResultTexts {
  /** The bytes of a result, valid until the next read. */
  readonly read: (at: number, length: number) => Uint8Array;
}

/**
 * A result whose text is on disk. Frequently used fields (status, check counts, usage) stay in
 * memory, so that a run of 100,000 queries fits in memory. Other fields are read on demand. Copy it with
 * `wholeResult`, because `{...result}` would lose them.
 */
export class StoredResult implements QueryResult {
  readonly id: string;
  readonly cell?: Cell;
  readonly query: string;
  readonly tags: string[];
  readonly status: CheckStatus;
  readonly error?: QueryError;
  readonly warnings?: TraceWarning[];
  readonly cassette?: CassetteUse;
  readonly checkCount: number;
  /** Ids of unmeasured checks. */
  readonly unmeasured: readonly string[];
  readonly costUsd: number | null | undefined;
  readonly latencyMs: number | null | undefined;
  readonly totalTokens: number | null | undefined;
  // Not a closure, because each of 100,000 results would have one.
  readonly #texts: ResultTexts;
  readonly #at: number;
  readonly #length: number;

  constructor(
    result: QueryResult,
    texts: ResultTexts,
    { at, length }: { readonly at: number; readonly length: number },
  ) {
    const { id, cell, query, tags, status, error, warnings, cassette } = result;
    const actual = result.cost.details.actual as Used | undefined;
    this.id = id;
    if (cell !== undefined) this.cell = cell;
    this.query = query;
    this.tags = tags.length === 0 ? NO_TAGS : tags;
    this.status = status;
    if (error !== undefined) this.error = error;
    if (warnings !== undefined) this.warnings = shared(warnings);
    if (cassette !== undefined) this.cassette = cassette;
    const { checkCount, unmeasured } = countsOf(result);
    this.checkCount = checkCount;
    this.unmeasured = unmeasured;
    this.costUsd = actual?.cost_usd;
    this.latencyMs = actual?.latency_ms;
    this.totalTokens = actual?.total_tokens;
    this.#texts = texts;
    this.#at = at;
    this.#length = length;
  }

  /** The result as JSON from the journal. The bytes are valid until the next read. */
  json(): Uint8Array {
    return this.#texts.read(this.#at, this.#length);
  }

  whole(): QueryResult {
    // Caches the last result, because fields are usually read together.
    if (last?.of !== this)
      last = { of: this, whole: JSON.parse(decoder.decode(this.json())) as QueryResult };
    return last.whole;
  }

  toJSON(): QueryResult {
    return this.whole();
  }

  get description(): string {
    return this.whole().description as string;
  }
  get answer(): string | null {
    return this.whole().answer;
  }
  get location(): NonNullable<QueryResult['location']> {
    return this.whole().location as NonNullable<QueryResult['location']>;
  }
  get baseline(): NonNullable<QueryResult['baseline']> {
    return this.whole().baseline as NonNullable<QueryResult['baseline']>;
  }
  get conversation(): ConversationResult {
    return this.whole().conversation as ConversationResult;
  }
  get correctness(): LayerResult {
    return this.whole().correctness;
  }
  get path(): LayerResult {
    return this.whole().path;
  }
  get cost(): LayerResult {
    return this.whole().cost;
  }
  get metrics(): Record<string, MetricResult> {
    return this.whole().metrics;
  }

  /** Repeats and skipped results are not stored this way. */
  declare readonly runs?: RunSummary[];
  declare readonly stability?: Stability;
  declare readonly pass_rate?: NonNullable<QueryResult['pass_rate']>;
  declare readonly not_run?: string;
  declare readonly skip?: NonNullable<QueryResult['skip']>;
  declare readonly xfail?: NonNullable<QueryResult['xfail']>;
}

const decoder = new TextDecoder();
const NO_TAGS: string[] = [];
const NO_WARNINGS: TraceWarning[] = [];
const NONE: readonly string[] = [];

/**
 * Maximum distinct warning lists to share. Recordings of one format usually have the same warnings.
 */
const MAX_SHARED = 256;
const sharedWarnings = new Map<string, TraceWarning[]>();

function shared(warnings: TraceWarning[]): TraceWarning[] {
  if (warnings.length === 0) return NO_WARNINGS;
  const key = JSON.stringify(warnings);
  const before = sharedWarnings.get(key);
  if (before === undefined && sharedWarnings.size < MAX_SHARED) sharedWarnings.set(key, warnings);
  return before ?? warnings;
}

let last: { readonly of: StoredResult; readonly whole: QueryResult } | undefined;

/** Whether a `StoredResult` can represent the result. */
export const isStorable = ({
  runs,
  stability,
  pass_rate,
  not_run,
  skip,
  xfail,
}: QueryResult): boolean =>
  (runs ?? stability ?? pass_rate ?? not_run ?? skip ?? xfail) === undefined;

/** The complete result, for copying. */
export const wholeResult = (result: QueryResult): QueryResult =>
  result instanceof StoredResult ? result.whole() : result;

/** Number of checks, and ids of the unmeasured ones. */
export function countsOf(result: QueryResult): {
  readonly checkCount: number;
  readonly unmeasured: readonly string[];
} {
  if (result instanceof StoredResult) return result;
  const checks = checksOf(result);
  const unmeasured = checks.some(isUnmeasured)
    ? checks.filter(isUnmeasured).map(({ id }) => id)
    : NONE;
  return { checkCount: checks.length, unmeasured };
}

interface Used {
  readonly cost_usd?: number | null | undefined;
  readonly latency_ms?: number | null | undefined;
  readonly total_tokens?: number | null | undefined;
}

/** Known resource use of a query. */
export function usedBy(result: QueryResult): Used {
  if (result instanceof StoredResult)
    return {
      cost_usd: result.costUsd,
      latency_ms: result.latencyMs,
      total_tokens: result.totalTokens,
    };
  return (result.cost.details.actual as Used | undefined) ?? {};
}

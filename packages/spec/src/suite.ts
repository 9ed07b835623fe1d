import type { CassetteConfig } from '@agentci/capture';
import type { Location } from '@agentci/lib/problems';
import type { CompiledRule, NamePattern, Policy } from '@agentci/policy';
import type { Cell } from '@agentci/results';
import type { RunnerConfig } from './runner-config.ts';

/** A loaded spec: includes resolved, defaults merged, every value checked. */
export interface Suite {
  readonly version: 1;
  readonly agent: string;
  /** As given by the user, for messages and annotations. */
  readonly file: string;
  /** Base folder of relative paths in the spec. */
  readonly dir: string;
  /** `sha256:` of the canonical JSON of the merged spec. */
  readonly hash: string;
  readonly baselineDir: string;
  readonly baseline?: string;
  readonly runner?: RunnerConfig;
  readonly cassette?: CassetteConfig;
  readonly use: readonly string[];
  /** A recording is judged by every query with its text, not by a single one. */
  readonly sharesRecordings?: true;
  readonly judgeConfig?: Readonly<Record<string, unknown>>;
  /** With a matrix, those of all cells. The cells of one query are adjacent. */
  readonly queries: readonly Query[];
  /** Every combination of the matrix. */
  readonly cells?: readonly Cell[];
  /** The reference for comparing the other cells. */
  readonly baselineCell?: Cell;
  /** Reports requested in the file itself, as in Assay suites: formats, and their folder. */
  readonly output?: { readonly formats: readonly string[]; readonly directory: string };
}

export type LayerBlock = Readonly<Record<string, unknown>>;

/**
 * The plan of a conversation: the speaker for the user, and its end. Its first message is the text
 * of the query.
 */
export interface ConversationPlan {
  /** Entries with `when` are tried first, in order. The others are a queue. */
  readonly script: readonly ScriptEntry[];
  /** Simulated by a model, if there is no script. */
  readonly user?: UserPlan;
  readonly maxTurns: number;
  readonly session: 'stateless' | 'stateful';
  /** It is an error if the script ends before one of `endTools` was called. */
  readonly mustAgentEnd: boolean;
  /** Names or patterns of tools. A turn with a call to one is the last. */
  readonly endTools: readonly string[];
}

/** A user simulated by a model: persona, facts and goal. */
export interface UserPlan {
  readonly persona?: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly goal: string;
  /** The tool that must have run before the user may finish. */
  readonly goalTool?: string;
  /** Default: the judge's model. */
  readonly model?: string;
}

export interface ScriptEntry {
  readonly say: string;
  readonly when?: string | undefined;
  readonly times?: number | undefined;
  readonly required?: boolean | undefined;
}

/** Checks on one turn of a conversation. */
export interface TurnChecks {
  readonly turn: number;
  readonly correctness?: LayerBlock;
  readonly path?: LayerBlock;
  readonly cost?: LayerBlock;
  /** Location of each check by id. */
  readonly locations: Readonly<Record<string, Location>>;
}

/** The required state after the run. */
export interface StatePlan {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  readonly subset?: unknown;
}

/**
 * One case. `correctness`, `path` and `cost` hold the values as written, after merging the
 * defaults.
 */
export interface Query {
  readonly id: string;
  readonly query: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly runs: number;
  readonly minPassRate: number;
  readonly context?: readonly string[];
  readonly expectedOutput?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly xfail?: string;
  /** The reason why the query is not run. */
  readonly skip?: string;
  /**
   * Every variable of the query: of the root, the defaults, the query, its row and its cell. Later
   * ones override earlier ones. Absent if the spec has none in scope. Then braces are plain text.
   */
  readonly vars?: Readonly<Record<string, unknown>>;
  /** The combination of the matrix. Queries of several cells share their id. */
  readonly cell?: Cell;
  readonly conversation?: ConversationPlan;
  readonly turns?: readonly TurnChecks[];
  readonly state?: StatePlan;
  readonly correctness?: LayerBlock;
  readonly path?: LayerBlock;
  readonly cost?: LayerBlock;
  /** As written, evaluated by the metric catalog. */
  readonly metrics?: unknown;
  /** As written: a path or the policy itself. */
  readonly policy?: unknown;
  /** The parsed and compiled policies. */
  readonly policies?: readonly Policy[];
  /**
   * A test of an Assay suite, judged once over all traces. `query` then describes the requirement.
   */
  readonly test?: PolicyTest;
  /** Location of the query, and of each check by id (`path.max_tool_calls`). */
  readonly location?: Location;
  readonly locations?: Readonly<Record<string, Location>>;
}

/** The requirement of an Assay test for every trace. */
export type PolicyTest =
  | {
      readonly metric: 'args_valid';
      readonly policy: Policy;
      readonly tools?: readonly string[];
      readonly strict: boolean;
    }
  | {
      readonly metric: 'sequence_valid';
      readonly rules: readonly CompiledRule[];
      readonly file: string;
    }
  | {
      readonly metric: 'tool_blocklist';
      readonly blocklist: readonly NamePattern[];
      readonly file: string;
    }
  | {
      readonly metric: 'module';
      readonly name: string;
      /** Path of the user's module. */
      readonly module: string;
      readonly export: string;
      readonly config: unknown;
      readonly timeoutMs?: number;
    };

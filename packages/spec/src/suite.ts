import type { CassetteConfig } from '@agentci/capture';
import type { Location } from '@agentci/lib/problems';
import type { CompiledRule, NamePattern, Policy } from '@agentci/policy';
import type { Cell } from '@agentci/results';
import type { RunnerConfig } from './runner-config.ts';

/** A spec, loaded: includes resolved, defaults merged, every value checked. */
export interface Suite {
  readonly version: 1;
  readonly agent: string;
  /** As given by the user; messages and annotations name it so. */
  readonly file: string;
  /** Folder that relative paths in the spec are resolved against. */
  readonly dir: string;
  /** `sha256:` of the canonical JSON of the merged spec. */
  readonly hash: string;
  readonly baselineDir: string;
  readonly baseline?: string;
  readonly runner?: RunnerConfig;
  readonly cassette?: CassetteConfig;
  readonly use: readonly string[];
  /** A recording is judged by every query that has its text, not by one of them alone. */
  readonly sharesRecordings?: true;
  readonly judgeConfig?: Readonly<Record<string, unknown>>;
  /** With a matrix, those of all cells; the cells of one query are beside each other. */
  readonly queries: readonly Query[];
  /** Every combination of the matrix. */
  readonly cells?: readonly Cell[];
  /** The combination the others are compared with. */
  readonly baselineCell?: Cell;
  /** Reports the file itself asks for, as Assay suites do: formats, and the folder for them. */
  readonly output?: { readonly formats: readonly string[]; readonly directory: string };
}

export type LayerBlock = Readonly<Record<string, unknown>>;

/** How a conversation goes: who speaks for the user, and what ends it. Its first message is the text of the query. */
export interface ConversationPlan {
  /** Entries with `when` are tried first, in order; the others are a queue. */
  readonly script: readonly ScriptEntry[];
  /** Played by a model, where there is no script. */
  readonly user?: UserPlan;
  readonly maxTurns: number;
  readonly session: 'stateless' | 'stateful';
  /** A script that is used up before one of `endTools` was called is an error. */
  readonly mustAgentEnd: boolean;
  /** Names or patterns of tools; the turn that calls one is the last. */
  readonly endTools: readonly string[];
}

/** A user played by a model: who it is, what it knows and what it wants. */
export interface UserPlan {
  readonly persona?: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly goal: string;
  /** The tool that must have run before the user may be done. */
  readonly goalTool?: string;
  /** The judge's model unless given. */
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
  /** Of each check by id. */
  readonly locations: Readonly<Record<string, Location>>;
}

/** What the world must look like after the run. */
export interface StatePlan {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  readonly subset?: unknown;
}

/** One case. `correctness`, `path` and `cost` hold the values as written, after defaults were merged. */
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
  /** Why the query is not run. */
  readonly skip?: string;
  /**
   * Every variable of the query: of the root, the defaults, the query, its row and its cell, later ones first. Absent where
   * the spec has none in scope; braces are plain text then.
   */
  readonly vars?: Readonly<Record<string, unknown>>;
  /** The combination of the matrix it is run for. Queries of several cells share their id. */
  readonly cell?: Cell;
  readonly conversation?: ConversationPlan;
  readonly turns?: readonly TurnChecks[];
  readonly state?: StatePlan;
  readonly correctness?: LayerBlock;
  readonly path?: LayerBlock;
  readonly cost?: LayerBlock;
  /** As written; evaluated by the metric catalogue. */
  readonly metrics?: unknown;
  /** As written: a path or the policy itself. */
  readonly policy?: unknown;
  /** The policy, read and compiled. */
  readonly policies?: readonly Policy[];
  /** A test of an Assay suite: judged once over all traces. `query` then says in words what it asks. */
  readonly test?: PolicyTest;
  /** Of the query itself, and of each check by id (`path.max_tool_calls`). */
  readonly location?: Location;
  readonly locations?: Readonly<Record<string, Location>>;
}

/** What one test of an Assay suite asks of every trace. */
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

import type { CompiledRule } from '../policy/compile-rules.ts';
import type { NamePattern, Policy } from '../policy/policy.ts';

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

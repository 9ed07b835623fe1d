/**
 * The entry point for node:test: a spec as test cases, and the matcher as
 * `expect(recording).toPassSpec(query)`.
 */
import { describe, test } from 'node:test';
import type { Query } from '@agentci/spec';
import { describeWith, type Framework } from './describe-spec.ts';
import { evaluateRecording, type MatchOptions } from './evaluate-recording.ts';
import { failureOf } from './failure-text.ts';
import type { SpecTestOptions } from './spec-run.ts';

export type { MatchOptions, SpecTestOptions };

const nodeTest: Framework = {
  describe: (name, { concurrent }, body) => {
    describe(name, { concurrency: concurrent }, body);
  },
  test: (name, body) => {
    test(name, (context) =>
      body({
        signal: context.signal,
        skip: (reason) => context.skip(reason),
        tell: (line) => context.diagnostic(line),
      }),
    );
  },
};

/** Registers one test per query of the spec. A path is relative to the working directory. */
export function describeSpec(spec: string | URL, options: SpecTestOptions = {}): void {
  describeWith(nodeTest, spec, options);
}

/** node:test has no matchers, so this is a minimal `expect`. Await the result. */
export function expect(received: unknown): {
  toPassSpec: (query: string | Query, options?: MatchOptions) => Promise<void>;
} {
  return {
    toPassSpec: async (query, options = {}) => {
      const failure = failureOf(await evaluateRecording(received, query, options), {
        strict: options.strict ?? false,
      });
      if (failure) throw failure;
    },
  };
}

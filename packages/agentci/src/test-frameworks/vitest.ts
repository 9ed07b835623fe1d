/**
 * The entry point for vitest: a spec as test cases, and a matcher for recordings. Importing it adds
 * the matcher to `expect`.
 */

import type { Query } from '@agentci/spec';
import { describe, expect, test } from 'vitest';
import { describeWith, type Framework } from './describe-spec.ts';
import { evaluateRecording, type MatchOptions } from './evaluate-recording.ts';
import { failureOf } from './failure-text.ts';
import type { SpecTestOptions } from './spec-run.ts';

export type { MatchOptions, SpecTestOptions };

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: interfaces merge only with the very same parameters, and this is vitest's
  interface Matchers<T = any> {
    /** Asserts that an answer, the simple form or a trace passes this query of a spec. Await it. */
    toPassSpec: (query: string | Query, options?: MatchOptions) => Promise<void>;
  }
}

const vitest: Framework = {
  describe: (name, { concurrent }, body) => describe(name, { concurrent }, body),
  // No framework timeout: runner and judge have their own, and five seconds are short for an agent.
  test: (name, body) =>
    test(name, { timeout: 0 }, ({ signal, skip }) =>
      body({
        signal,
        skip,
        // biome-ignore lint/suspicious/noConsole: a framework shows what a test prints beside the test
        tell: (line) => console.warn(line),
      }),
    ),
};

/** Registers one test per query of the spec. A path is relative to the working directory. */
export function describeSpec(spec: string | URL, options: SpecTestOptions = {}): void {
  describeWith(vitest, spec, options);
}

/** The matcher for another `expect`: `expect.extend({ toPassSpec })`. */
export async function toPassSpec(
  this: { readonly isNot?: boolean } | undefined,
  received: unknown,
  query: string | Query,
  options: MatchOptions = {},
): Promise<{ pass: boolean; message: () => string }> {
  const result = await evaluateRecording(received, query, options);
  const failure = failureOf(result, { strict: options.strict ?? false });
  // With `.not`, "could not tell" must fail too.
  if (failure && this?.isNot && result.status === 'error') throw failure;
  return {
    pass: failure === undefined,
    message: () => failure?.message ?? `${result.id}: ${result.status}, though it should not pass`,
  };
}

expect.extend({ toPassSpec });

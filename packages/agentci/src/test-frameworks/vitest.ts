/** The door for vitest: a spec as test cases, and a matcher for recordings. Importing it adds the matcher to `expect`. */

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
    /** What was received, an answer, the simple form or a trace, passes this query of a spec. Wait for it. */
    toPassSpec: (query: string | Query, options?: MatchOptions) => Promise<void>;
  }
}

const vitest: Framework = {
  describe: (name, { concurrent }, body) => describe(name, { concurrent }, body),
  // No limit of the framework's: runner and judge have theirs, and five seconds are little for an agent.
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

/** One test for each query of the spec. A path is relative to the working directory; a URL from wherever it points to. */
export function describeSpec(spec: string | URL, options: SpecTestOptions = {}): void {
  describeWith(vitest, spec, options);
}

/** The matcher, for an `expect` of your own: `expect.extend({ toPassSpec })`. */
export async function toPassSpec(
  this: { readonly isNot?: boolean } | undefined,
  received: unknown,
  query: string | Query,
  options: MatchOptions = {},
): Promise<{ pass: boolean; message: () => string }> {
  const result = await evaluateRecording(received, query, options);
  const failure = failureOf(result, { strict: options.strict ?? false });
  // Could not tell is not a failure to be glad about either.
  if (failure && this?.isNot && result.status === 'error') throw failure;
  return {
    pass: failure === undefined,
    message: () => failure?.message ?? `${result.id}: ${result.status}, though it should not pass`,
  };
}

expect.extend({ toPassSpec });

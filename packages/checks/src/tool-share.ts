import { present } from '@agentci/lib/data';
import { v } from '@agentci/lib/values';
import { capturedCalls, namesOf } from '@agentci/trace';
import { atLeast } from './bounds.ts';
import { NOT_CAPTURED } from './calls.ts';
import { type CheckFailure, defineCheck, unmeasured } from './check.ts';
import { neededKeyIssue, textsOf, zeroBoundIssues } from './issues.ts';
import { number, rounded } from './words.ts';

interface ToolShare {
  readonly key: `min_${string}`;
  readonly order: number;
  readonly summary: string;
  /** Its name in messages, such as `tool recall`. */
  readonly what: string;
  readonly failure: CheckFailure;
  readonly example: number;
  readonly measure: (expected: readonly string[], used: readonly string[]) => number;
  /**
   * Effect of calls missing from the trace: they can only raise the value (`rising`), or move it
   * either way (`open`).
   */
  readonly partial: 'rising' | 'open';
}

/** Defines a check with a lower bound on the overlap of called and expected tools. */
export function defineToolShare({
  key,
  order,
  summary,
  what,
  failure,
  example,
  measure,
  partial,
}: ToolShare) {
  const detail = key.slice('min_'.length);
  return defineCheck({
    layer: 'path',
    key,
    severity: 'warn',
    order,
    summary,
    wants: (min) => `A ${what} of at least ${number(min)}`,
    failure,
    example,
    schema: v.number().min(0).max(1),
    inspect: (min, siblings) =>
      present([
        ...zeroBoundIssues(key, min),
        Array.isArray(siblings.expected_tools)
          ? undefined
          : neededKeyIssue(key, 'expected_tools', 'error'),
      ]),
    evaluate: (min, { trace, siblings }) => {
      const recorded = capturedCalls(trace);
      if (recorded === undefined)
        return unmeasured(`${what}: not known, ${NOT_CAPTURED}; minimum ${number(min)}`, {
          limit: min,
        });
      if (!Array.isArray(siblings.expected_tools))
        return unmeasured(`${what}: not known, there is no expected_tools`, { limit: min });
      const expected = textsOf(siblings.expected_tools);
      const value = measure(expected, namesOf(recorded.calls, expected));
      return atLeast({
        value,
        min,
        what,
        ...(recorded.isPartial ? { partial } : { rest: { details: { [detail]: rounded(value) } } }),
      });
    },
  });
}

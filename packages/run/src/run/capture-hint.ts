import type { QueryResult } from '@agentci/results';
import { checksOf, countsOf, isUnmeasured } from '@agentci/results';
import type { RunnerConfig } from '@agentci/spec';
import type { AgentFunction } from './run-options.ts';

/** For checks that had nothing to look at because the agent gives only its answer: how it could give more. */
export function captureHint(
  runner: RunnerConfig | AgentFunction | undefined,
  results: readonly QueryResult[],
): string | undefined {
  if (
    typeof runner !== 'object' ||
    runner.kind === 'replay' ||
    ('capture' in runner && runner.capture !== undefined)
  )
    return undefined;
  const isBlind = (result: QueryResult): boolean =>
    (result.status !== 'pass' || countsOf(result).unmeasured.length > 0) &&
    checksOf(result).some(
      (check) =>
        /\bnot captured\b/.test(check.message) && (check.status === 'error' || isUnmeasured(check)),
    );
  if (!results.some(isBlind)) return undefined;
  return runner.kind === 'http'
    ? 'the agent gives only its answer, so checks of tools and cost have nothing to look at: let the response show its tool calls, send spans (`capture: [otlp]`), or leave the checks out'
    : 'the agent gives only its answer, so checks of tools and cost have nothing to look at: write `capture: auto` under runner, let it print its tool calls, or leave the checks out';
}

import { classifyError, errorFacts } from '../runners/classify-error.ts';
import { consume } from '../runners/module-stream.mjs';
import { AgentError, type Runner, type RunOutput, type RunRequest } from '../runners/runner.ts';
import { givenOutput } from '../runners/stream/given-value.ts';
import type { AgentFunction } from './run-options.ts';

/**
 * Runs a function of the caller in this process. Nothing can stop it, so an abort only stops the
 * waiting.
 */
export function createFunctionRunner(agent: AgentFunction): Runner {
  const runWith = async (
    request: RunRequest,
    state: Record<string, unknown> | undefined,
  ): Promise<RunOutput> => {
    const { signal, query, id, run, metadata, vars, turn } = request;
    const started = performance.now();
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new AgentError('infra', 'stopped')), {
        once: true,
      });
    });
    try {
      const value = await Promise.race([
        agent(turn?.message ?? query, {
          id,
          run,
          metadata: metadata ?? {},
          vars: vars ?? {},
          signal,
          ...(turn === undefined ? {} : { ...turn, query, state: state ?? {} }),
        }),
        aborted,
      ]);
      const given = await Promise.race([consume(value, started), aborted]);
      return { ...givenOutput(given, {}), wallMs: performance.now() - started };
    } catch (error) {
      throw error instanceof AgentError
        ? error
        : classifyError(errorFacts(error), { prefix: 'the agent threw ' });
    }
  };
  return {
    run: (request) => runWith(request, undefined),
    open: async () => {
      const state = {};
      return { run: (request) => runWith(request, state), close: async () => {} };
    },
    close: async () => {},
  };
}

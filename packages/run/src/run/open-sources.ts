import { isAbsolute, join } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import type { CasePlan } from './plan-cases.ts';
import { RecordedSource } from './recorded-source.ts';
import type { LiveRunner, RunOptions } from './run-options.ts';
import type { TraceSource } from './source.ts';
import type { ToolNameCollector } from './tool-name-collector.ts';

/**
 * The sources of traces of a run, one after the other. Code that runs agents is loaded only if
 * needed.
 */
export async function* openSources(
  options: RunOptions,
  plan: CasePlan,
  toolNames: ToolNameCollector,
): AsyncGenerator<TraceSource> {
  const { suite, traces } = options;
  const { queries, ledger, runner } = plan;
  if (traces !== undefined && queries.some((query) => query.test !== undefined)) {
    const { PolicyTestSource } = await import('./policy-test-source.ts');
    yield new PolicyTestSource(options, traces, ledger, toolNames);
  } else if (traces !== undefined) {
    yield new RecordedSource(options, traces, queries, ledger);
  } else if (runner === undefined) {
    throw new UserError(
      'NO_RUNNER',
      `${suite.file} has no runner and no recordings were given, so there is nothing to check`,
      {
        hint: 'Pass --traces FILE, or add a runner to the spec, e.g. `runner: {command: [python, agent.py]}`.',
      },
    );
  } else if (typeof runner !== 'function' && runner.kind === 'replay') {
    // A relative path stays relative, so that messages name the file as the user does.
    const path = isAbsolute(runner.replay) ? runner.replay : join(suite.dir, runner.replay);
    yield new RecordedSource(options, path, queries, ledger);
  } else if (queries.length > 0) {
    await plan.metrics?.noteResumed(options, ledger.runsOf);
    yield* openAgents(options, plan, runner);
  }
}

/**
 * The agent, run here or by the workers of a queue. A queue that the run has left is read first.
 */
async function* openAgents(
  options: RunOptions,
  { ledger }: CasePlan,
  runner: LiveRunner,
): AsyncGenerator<TraceSource> {
  const { queue, queueBefore } = options;
  if (queueBefore !== undefined && queueBefore !== queue?.address && ledger.pending().length > 0) {
    const { openLeftQueue } = await import('./open-queue.ts');
    yield await openLeftQueue(options, runner, queueBefore, ledger);
  }
  if (queue === undefined) {
    const { LiveSource } = await import('./live-source.ts');
    yield await LiveSource.open(options, runner, ledger);
  } else if (ledger.pending().length > 0) {
    const { openQueueSource } = await import('./open-queue.ts');
    yield await openQueueSource(options, runner, queue, ledger);
  }
}

import type { AdapterItem } from '@agentci/formats';
import { readTraceItems } from '@agentci/formats';
import {
  CallTable,
  evaluateArguments,
  evaluateBlocklist,
  evaluatePrepared,
  runFactsOf,
} from '@agentci/policy';
import type { CheckResult, PolicyResult } from '@agentci/results';
import type { PolicyTest, Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { createModuleCaller, type ModuleCaller } from '../runners/module.ts';

import type { Ledger } from './ledger.ts';
import { runModuleMetric } from './module-metric.ts';
import { verdictOn } from './policy-checks.ts';
import { skippedNotice } from './recorded-source.ts';
import type { RunOptions } from './run-options.ts';
import type { SourcedRun, SourceReport, TraceSource } from './source.ts';
import { TestTally } from './test-tally.ts';
import type { ToolNameCollector } from './tool-name-collector.ts';
import { problemText, unreadable } from './unreadable.ts';

/** The tests of an Assay suite. Each judges all traces of the stream and has one result. */
export class PolicyTestSource implements TraceSource {
  readonly workers = 1;
  readonly isPaid = false;
  readonly #options: RunOptions;
  readonly #traces: NonNullable<RunOptions['traces']>;
  readonly #ledger: Ledger;
  readonly #toolNames: ToolNameCollector;
  readonly #checks: CheckResult[] = [];
  readonly #skipped: string[] = [];
  readonly #modules = new Map<PolicyTest, ModuleCaller>();

  constructor(
    options: RunOptions,
    traces: NonNullable<RunOptions['traces']>,
    ledger: Ledger,
    toolNames: ToolNameCollector,
  ) {
    this.#options = options;
    this.#traces = traces;
    this.#ledger = ledger;
    this.#toolNames = toolNames;
  }

  async *runs(): AsyncGenerator<SourcedRun> {
    const pending = this.#ledger.pending();
    const tallies = new Map(pending.map(({ query }) => [query, new TestTally(query)]));
    for await (const item of items(this.#traces, this.#options, (path) =>
      this.#skipped.push(path),
    )) {
      if (this.#ledger.stopped()) return;
      if (item.ok) this.#toolNames.see(item.trace);
      else this.#checks.push(unreadable(item.problem));
      for (const [query, tally] of tallies)
        if (item.ok) await this.#judge(query, item.trace, tally);
        else tally.unreadable(problemText(item.problem));
    }
    const results = new Map([...tallies].map(([query, tally]) => [query, tally.result()]));
    for (const { query, run } of pending) {
      const result = results.get(query)!;
      yield { query, run, outcome: async () => ({ kind: 'failed', result }) };
    }
  }

  async close(): Promise<SourceReport> {
    await Promise.all([...this.#modules.values()].map((caller) => caller.close()));
    return { checks: this.#checks, notices: skippedNotice(this.#skipped) };
  }

  async #judge({ test }: Query, trace: Trace, tally: TestTally): Promise<void> {
    if (test === undefined) return;
    if (test.metric === 'module') {
      const outcome = await runModuleMetric(this.#callerOf(test), trace, test, this.#options);
      tally.addModule(trace, outcome);
      return;
    }
    const result = evaluate(test, trace);
    const verdict = verdictOn(result, trace);
    // A failed run may have been about to do more. Its calls are judged, but not the missing ones.
    const isFailed =
      trace.status === 'error' && verdict.status !== 'fail' && verdict.status !== 'error';
    tally.add(
      trace,
      result,
      isFailed ? { status: 'error', why: 'the recording says the run failed' } : verdict,
    );
  }

  #callerOf(test: Extract<PolicyTest, { metric: 'module' }>): ModuleCaller {
    const known = this.#modules.get(test);
    if (known !== undefined) return known;
    const caller = createModuleCaller({
      file: test.module,
      exportName: test.export,
      env: this.#options.env ?? {},
      what: 'the metric',
    });
    this.#modules.set(test, caller);
    return caller;
  }
}

function evaluate(test: Exclude<PolicyTest, { metric: 'module' }>, trace: Trace): PolicyResult {
  const calls = toolCalls(trace);
  switch (test.metric) {
    case 'args_valid':
      return evaluateArguments({
        calls,
        policy: test.policy,
        strict: test.strict,
        tools: test.tools,
      });
    case 'sequence_valid':
      return evaluatePrepared(
        new CallTable(calls, runFactsOf(trace)),
        test.rules,
        trace.status !== 'incomplete',
      );
    case 'tool_blocklist':
      return evaluateBlocklist({ calls, blocklist: test.blocklist });
  }
}

async function* items(
  source: NonNullable<RunOptions['traces']>,
  options: RunOptions,
  onSkipped: (path: string) => void,
): AsyncGenerator<AdapterItem> {
  if (typeof source === 'string' || source instanceof Uint8Array) {
    yield* readTraceItems(source, {
      onSkipped,
      format: options.format,
      signal: options.signal,
    });
    return;
  }
  for await (const trace of source) yield { ok: true, trace };
}

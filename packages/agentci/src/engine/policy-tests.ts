import type { AdapterItem } from '../adapters/adapter.ts';
import { readTraceItems } from '../adapters/reader/read-traces.ts';
import { CallTable } from '../policy/call-table.ts';
import { evaluateArguments } from '../policy/evaluate-arguments.ts';
import { evaluateBlocklist } from '../policy/evaluate-blocklist.ts';
import { evaluatePrepared } from '../policy/evaluate-rules.ts';
import { runFactsOf } from '../policy/run-facts.ts';
import type { PolicyResult } from '../results/policy-report.ts';
import type { CheckResult } from '../results/run-result.ts';
import { createModuleCaller, type ModuleCaller } from '../runners/module.ts';
import type { PolicyTest, Query } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import { toolCalls } from '../trace/selectors.ts';
import { skippedNotice } from './collect-recorded.ts';
import type { Ledger } from './ledger.ts';
import { runModuleMetric } from './module-metric.ts';
import { verdictOn } from './policy-checks.ts';
import type { RunOptions } from './run-options.ts';
import type { Recorded } from './run-parts.ts';
import { TestTally } from './test-tally.ts';
import { problemText, unreadable } from './unreadable.ts';

/** Judges the tests of an Assay suite over all traces, as they stream by: one result per test, memory does not grow. */
export async function collectPolicyTests(
  options: RunOptions,
  source: NonNullable<RunOptions['traces']>,
  ledger: Ledger,
  see: (trace: Trace) => void,
): Promise<Recorded> {
  const pending = ledger.pending();
  const open = [...new Set(pending.map(({ query }) => query))].map((query) => ({
    query,
    tally: new TestTally(query),
  }));
  const checks: CheckResult[] = [];
  const skipped: string[] = [];
  const modules = new Map<PolicyTest, ModuleCaller>();
  const env = options.env ?? {};
  const callerOf = (test: Extract<PolicyTest, { metric: 'module' }>): ModuleCaller => {
    const known = modules.get(test);
    if (known !== undefined) return known;
    const caller = createModuleCaller({
      file: test.module,
      exportName: test.export,
      env,
      what: 'the metric',
    });
    modules.set(test, caller);
    return caller;
  };
  try {
    for await (const item of items(source, options, (path) => skipped.push(path))) {
      if (ledger.stopped()) break;
      if (!item.ok) {
        checks.push(unreadable(item.problem));
        for (const { tally } of open) tally.unreadable(problemText(item.problem));
        continue;
      }
      see(item.trace);
      for (const { query, tally } of open)
        await judge(query, item.trace, tally, { callerOf, options });
    }
  } finally {
    await Promise.all([...modules.values()].map((caller) => caller.close()));
  }
  if (!ledger.stopped()) {
    const results = new Map(open.map(({ query, tally }) => [query, tally.result()]));
    for (const { query, run } of pending) ledger.add(query, run, results.get(query)!);
  }
  return { checks, notices: skippedNotice(skipped), unmatched: 0 };
}

async function judge(
  query: Query,
  trace: Trace,
  tally: TestTally,
  {
    callerOf,
    options,
  }: {
    callerOf: (test: Extract<PolicyTest, { metric: 'module' }>) => ModuleCaller;
    options: RunOptions;
  },
): Promise<void> {
  const { test } = query;
  if (test === undefined) return;
  if (test.metric === 'module') {
    const outcome = await runModuleMetric(callerOf(test), trace, test, options);
    tally.addModule(trace, outcome);
    return;
  }
  const result = evaluate(test, trace);
  const verdict = verdictOn(result, trace);
  // A run that failed may have been about to do more: what it did is judged, what it did not do is not.
  const isFailed =
    trace.status === 'error' && verdict.status !== 'fail' && verdict.status !== 'error';
  tally.add(
    trace,
    result,
    isFailed ? { status: 'error', why: 'the recording says the run failed' } : verdict,
  );
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

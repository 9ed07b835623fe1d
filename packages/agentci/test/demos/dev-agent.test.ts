import { join } from 'node:path';
import { readTraces } from '@agentci/formats';
import type { RunResult } from '@agentci/results';
import { cliProcess } from '@agentci/testing/cli';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { finalText, toolCalls } from '@agentci/trace';
import { expect, test } from 'vitest';

const cwd = join(workspaceCopy(), 'demos', 'dev-agent');

/** The agent's actions, without differences between runs and languages. */
async function did(spec: string) {
  const { stdout } = await cliProcess(['test', '-c', spec, '--judge', 'recorded', '-f', 'json'], {
    cwd,
  });
  const run = JSON.parse(stdout) as RunResult;
  const traces = new Map<string, unknown>();
  for await (const trace of readTraces(
    join(cwd, '.agentci', 'runs', run.run_id, 'traces', 'traces.jsonl'),
  )) {
    const calls = toolCalls(trace).map(({ name, args, result, status }) => ({
      name,
      args,
      result,
      status,
    }));
    traces.set(trace.task?.id ?? '', { calls, answer: finalText(trace) });
  }
  return { summary: run.summary, traces };
}

test('two languages, one behaviour: both analysers pass and do the same', {
  timeout: 90_000,
}, async () => {
  const typescript = await did('agentci_spec.yaml');
  const python = await did('agentci_spec.python.yaml');
  expect(typescript.summary).toMatchObject({ total: 6, passed: 6, warnings: 0, exit_code: 0 });
  expect(python.summary).toEqual(typescript.summary);
  expect(typescript.traces.size).toBe(6);
  expect(python.traces).toEqual(typescript.traces);
});

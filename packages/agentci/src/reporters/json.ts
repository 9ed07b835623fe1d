import type { RunResult } from '../results/run-result.ts';
import type { Reporter } from './reporter.ts';

/** One document, one line a result: small enough for thousands of queries, and a diff of two runs shows the queries that changed. */
export const reporter: Reporter = {
  name: 'json',
  summary: 'the whole result as one JSON document (agentci.results/1)',
  extensions: ['.json'],
  machineReadable: true,
  render: (run) => ({ text: renderJson(run) }),
};

function renderJson(run: RunResult): string {
  const fields = Object.entries(run).map(([key, value]) => {
    const name = JSON.stringify(key);
    if (key !== 'results' || run.results.length === 0) return `${name}: ${JSON.stringify(value)}`;
    return `${name}: [\n${run.results.map((result) => JSON.stringify(result)).join(',\n')}\n]`;
  });
  return `{\n${fields.join(',\n')}\n}\n`;
}

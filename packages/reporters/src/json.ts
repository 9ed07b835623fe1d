import type { RunResult } from '@agentci/results';
import { StoredResult } from '@agentci/results';
import type { Reporter } from './reporter.ts';

/** One document, one line a result: small enough for thousands of queries, and a diff of two runs shows the queries that changed. */
export const reporter: Reporter = {
  name: 'json',
  summary: 'the whole result as one JSON document (agentci.results/1)',
  extensions: ['.json'],
  machineReadable: true,
  render: (run) => ({ text: renderJson(run) }),
};

/** What was paid for nothing is told in the notices: it depends on what happened to machines, and the document on what the agent did. */
function* renderJson({ results, unused: _, ...rest }: RunResult): Generator<string | Uint8Array> {
  yield '{\n';
  for (const [key, value] of Object.entries(rest))
    if (value !== undefined) yield `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`;
  yield '"results": [';
  let separator = '\n';
  for (const result of results) {
    yield separator;
    // The journal has it as JSON already.
    yield result instanceof StoredResult ? result.json() : JSON.stringify(result);
    separator = ',\n';
  }
  yield results.length === 0 ? ']\n}\n' : '\n]\n}\n';
}

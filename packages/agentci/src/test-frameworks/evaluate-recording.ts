import { dirname } from 'node:path';
import { didYouMean } from '@agentci/lib/text';
import type { QueryResult } from '@agentci/results';
import { interpretRecording } from '@agentci/run';
import type { Query, Suite } from '@agentci/spec';
import { readSpecFile } from '@agentci/spec';
import { specFile } from './describe-spec.ts';
import { loadFailure, SpecFailure } from './failure-text.ts';
import { SpecRun, type SpecTestOptions } from './spec-run.ts';

/** Options of a matcher: how to find and judge the query. */
export interface MatchOptions
  extends Omit<SpecTestOptions, 'traces' | 'runner' | 'runs' | 'shard' | 'concurrent'> {
  /** The spec of the query. Default: `agentci_spec.yaml`. */
  readonly spec?: string | URL | Suite;
}

/** Judges an agent's output (an answer, the simple form, or a trace) by one query of a spec. */
export async function evaluateRecording(
  recording: unknown,
  asked: string | Query,
  { spec, ...options }: MatchOptions,
): Promise<QueryResult> {
  const suite = suiteFor(asked, spec);
  const query = typeof asked === 'string' ? findQuery(suite, asked) : asked;
  const trace = await interpretRecording(recording, query);
  // One recording is one repeat, whatever the spec configures.
  const run = new SpecRun({ ...suite, queries: [query] }, { ...options, traces: [trace], runs: 1 });
  return run.resultOf(query, new AbortController().signal);
}

function suiteFor(asked: string | Query, spec: MatchOptions['spec']): Suite {
  if (spec !== undefined && typeof spec !== 'string' && !(spec instanceof URL)) return spec;
  if (spec === undefined && typeof asked !== 'string') return suiteOfOne(asked);
  try {
    return readSpecFile(specFile(spec ?? 'agentci_spec.yaml')).suite;
  } catch (error) {
    throw loadFailure(error);
  }
}

/** A loaded query brings its checks. Other settings, such as the judge's, have defaults. */
function suiteOfOne(query: Query): Suite {
  const file = query.location?.file ?? 'agentci_spec.yaml';
  return {
    version: 1,
    agent: 'agent',
    file,
    dir: dirname(file),
    hash: '',
    baselineDir: './baselines',
    use: [],
    queries: [query],
  };
}

function findQuery({ queries, file }: Suite, asked: string): Query {
  const byId = queries.find(({ id }) => id === asked);
  const byText = queries.filter(({ query }) => query === asked);
  if (byId !== undefined) return byId;
  if (byText.length > 1)
    throw new SpecFailure(
      `${file} has ${byText.length} queries with this text: ${byText.map(({ id }) => id).join(', ')}`,
    );
  if (byText[0] !== undefined) return byText[0];
  const meant = didYouMean(
    asked,
    queries.map(({ id }) => id),
  );
  throw new SpecFailure(
    `${file} has no query "${asked}"${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
  );
}

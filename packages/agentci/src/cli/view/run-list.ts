import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { PageRun } from '../../results/page-data.ts';
import type { RunResult } from '../../results/run-result.ts';
import { listRuns, readRun, type StoredRun } from '../../store/stored-runs.ts';

const MAX_RUNS = 200;

/** The stored runs with the numbers of their trends. A finished run does not change, so it is read once. */
export class RunList {
  readonly #root: string;
  readonly #read = new Map<string, PageRun>();

  constructor(root: string) {
    this.#root = root;
  }

  find(id: string): StoredRun | undefined {
    return listRuns(this.#root).find((run) => run.id === id);
  }

  list(): PageRun[] {
    return listRuns(this.#root)
      .slice(0, MAX_RUNS)
      .map((run) => (run.finished ? this.#finished(run) : bare(run)));
  }

  #finished(run: StoredRun): PageRun {
    // Its name alone would not do: someone may delete a run and another program write one of the same name.
    const key = `${run.id} ${statSync(join(this.#root, run.id, 'run.json')).mtimeMs}`;
    let known = this.#read.get(key);
    if (known === undefined) {
      try {
        known = { ...bare(run), ...numbers(readRun(this.#root, run.id)) };
      } catch {
        known = bare(run);
      }
      this.#read.set(key, known);
    }
    return known;
  }
}

const bare = ({ id, header, finished }: StoredRun): PageRun => ({
  id,
  agent: header.agent,
  spec: header.spec.file,
  started_at: header.started_at,
  finished,
  summary: null,
  cost_usd: null,
  total_tokens: null,
  median_latency_ms: null,
});

function numbers(run: RunResult): Pick<PageRun, 'summary' | 'cost_usd' | 'total_tokens' | 'median_latency_ms'> {
  const known = (name: 'cost_usd' | 'total_tokens' | 'latency_ms'): number[] =>
    run.results
      .map((result) => (result.cost?.details?.actual as Record<string, unknown> | undefined)?.[name])
      .filter((value): value is number => typeof value === 'number');
  const sum = (values: readonly number[]) => (values.length === 0 ? null : values.reduce((a, b) => a + b, 0));
  const latency = known('latency_ms').sort((a, b) => a - b);
  return {
    summary: run.summary,
    cost_usd: sum(known('cost_usd')),
    total_tokens: sum(known('total_tokens')),
    median_latency_ms: latency[Math.floor((latency.length - 1) / 2)] ?? null,
  };
}

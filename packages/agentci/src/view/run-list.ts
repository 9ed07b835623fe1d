import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PageRun, RunResult } from '@agentci/results';
import { usageInAll } from '@agentci/results';
import type { HistoryRun } from '@agentci/run';
import { listRuns, readRun, readRuns, type StoredRun } from '@agentci/run';
import { LARGE, readHead, slimRun } from './slim-run.ts';

const MAX_RUNS = 200;

/**
 * The stored runs with their trend values. Each finished run is read once because it does not
 * change.
 */
export class RunList {
  readonly #root: string;
  readonly #read = new Map<string, PageRun>();
  /** By id. Undefined for a run that is not in the history. */
  readonly #lines = new Map<string, HistoryRun | undefined>();

  readonly #isShown: (run: StoredRun) => boolean;

  constructor(root: string, isShown: (run: StoredRun) => boolean = () => true) {
    this.#root = root;
    this.#isShown = isShown;
  }

  find(id: string): StoredRun | undefined {
    return listRuns(this.#root).find((run) => run.id === id);
  }

  /** Sorted by last activity, judging included. */
  list(): PageRun[] {
    return listRuns(this.#root)
      .filter(this.#isShown)
      .sort((a, b) => (a.age < b.age ? 1 : -1))
      .slice(0, MAX_RUNS)
      .map((run) => (run.finished ? this.#finished(run) : bare(run)));
  }

  #finished(run: StoredRun): PageRun {
    // The name is not enough: someone may delete a run and write another with the same name.
    const key = `${run.id} ${statSync(join(this.#root, run.id, 'run.json')).mtimeMs}`;
    let known = this.#read.get(key);
    if (known === undefined) {
      try {
        known = { ...bare(run), ...this.#numbers(run.id) };
      } catch {
        known = bare(run);
      }
      this.#read.set(key, known);
    }
    return known;
  }

  /** From the history's line for the run. A run without a line is read, line by line if large. */
  #numbers(id: string): Numbers {
    const head = readHead(this.#root, id);
    const line = this.#historyLine(id);
    if (line !== undefined)
      return {
        summary: head.summary,
        cost_usd: line.usd,
        total_tokens: line.tokens,
        median_latency_ms: line.p50_ms,
      };
    return numbers(
      head.results.length < LARGE ? readRun(this.#root, id) : slimRun(this.#root, id, head),
    );
  }

  #historyLine(id: string): HistoryRun | undefined {
    if (!this.#lines.has(id))
      for (const run of readRuns(join(dirname(this.#root), 'history')).lines)
        this.#lines.set(run.id, run);
    const line = this.#lines.get(id);
    if (line === undefined) this.#lines.set(id, undefined);
    return line;
  }
}

type Numbers = Pick<PageRun, 'summary' | 'cost_usd' | 'total_tokens' | 'median_latency_ms'>;

const bare = ({ id, header, finished }: StoredRun): PageRun => ({
  id,
  agent: header.agent,
  spec: header.spec.file,
  branch: header.branch,
  shard: header.started_with?.shard === undefined ? undefined : true,
  started_at: header.started_at,
  finished,
  summary: null,
  cost_usd: null,
  total_tokens: null,
  median_latency_ms: null,
});

function numbers(run: RunResult): Numbers {
  const latency = [...usageInAll(run.results, 'latency_ms').values].sort((a, b) => a - b);
  return {
    summary: run.summary,
    cost_usd: usageInAll(run.results, 'cost_usd').sum,
    total_tokens: usageInAll(run.results, 'total_tokens').sum,
    median_latency_ms: latency[Math.floor((latency.length - 1) / 2)] ?? null,
  };
}

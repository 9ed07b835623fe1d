import { dirname, join } from 'node:path';
import type {
  PageBefore,
  PageEvidence,
  PageRun,
  PageRunUpdate,
  PageTrends,
  PageVersion,
} from '@agentci/results';
import { type QueryResult, RESULTS_SCHEMA, type RunResult, summarize } from '@agentci/results';
import { readRun, type StoredRun, tracesOf } from '@agentci/run';
import { gitState } from '../ci/git-state.ts';
import { pageEvidence } from '../report/page-evidence.ts';
import { tracesAt } from '../report/write-reports.ts';
import { storedCommand } from '../test-command/repeated-command.ts';
import { JournalTail } from './journal-tail.ts';
import { type CompareSide, pageComparison } from './page-comparison.ts';
import { pageTrends } from './page-trends.ts';
import { RunList } from './run-list.ts';
import { LARGE, readHead, slimRun, wholeResultOf } from './slim-run.ts';
import type { VersionLibrary } from './version-library.ts';

const MAX_KEPT = 4;

/** The stored runs of a folder for `agentci view`. Opens only names found there. */
export class RunLibrary {
  readonly #root: string;
  readonly #cwd: string;
  readonly #runs: RunList;
  readonly #tails = new Map<string, JournalTail>();
  readonly #read = new Map<string, RunResult>();
  /** Large runs in page form. */
  readonly #slim = new Map<string, RunResult>();
  readonly #history: string;
  readonly #versions: VersionLibrary | undefined;

  constructor(
    root: string,
    cwd: string,
    versions?: VersionLibrary,
    isShown?: (run: StoredRun) => boolean,
  ) {
    this.#root = root;
    this.#cwd = cwd;
    this.#runs = new RunList(root, isShown);
    this.#history = join(dirname(root), 'history');
    this.#versions = versions;
  }

  list(): PageRun[] {
    return this.#runs.list();
  }

  /** A run, or its new entries since number `from`. */
  update(id: string, from: number): PageRunUpdate | undefined {
    const stored = this.#runs.find(id);
    if (stored === undefined) return undefined;
    const command = storedCommand(stored.header, {});
    if (stored.finished)
      return { run: this.#shown(id), finished: true, command, entries: 0, partial: false };
    const tail = this.#tail(id);
    tail.look();
    return {
      run: unfinished(stored, tail, from),
      finished: false,
      command,
      entries: tail.entries,
      partial: from > 0,
    };
  }

  async evidence(id: string, queryId: string): Promise<PageEvidence | undefined> {
    const stored = this.#runs.find(id);
    if (stored === undefined) return undefined;
    const shown = this.update(id, 0)?.run;
    if (shown === undefined) return undefined;
    const whole = this.result(id, queryId);
    const run = whole === undefined ? shown : { ...shown, results: [whole] };
    const { traces } = tracesAt(() => tracesOf(this.#root, id));
    const { byQuery } = await pageEvidence(run, { traces, cwd: this.#cwd, only: queryId });
    return byQuery.get(queryId);
  }

  /** A complete query result of a finished run. For a large run, pages only have a summary. */
  result(id: string, name: string): QueryResult | undefined {
    return this.#runs.find(id)?.finished ? wholeResultOf(this.#root, id, name) : undefined;
  }

  /** An agent's trends on a branch, with flaky and failing queries. */
  trends(agent: string, branch: string | undefined): PageTrends | undefined {
    // Read on each call, because the branch may have changed.
    return pageTrends(this.#history, agent, {
      named: branch,
      checkedOut: gitState(this.#cwd, { env: {} }).branch,
    });
  }

  /** Baseline versions available for comparison. */
  async versions(): Promise<PageVersion[]> {
    return (await this.#versions?.list()) ?? [];
  }

  /** Compares two sides, each a finished run or a baseline version. */
  async compare(before: string, after: string): Promise<PageBefore | undefined> {
    const [was, is] = [await this.#side(before), await this.#side(after)];
    return was === undefined || is === undefined ? undefined : pageComparison(was, is);
  }

  async #side(id: string): Promise<CompareSide | undefined> {
    const stored = this.#runs.find(id);
    if (stored !== undefined) return stored.finished ? { id, run: this.#finished(id) } : undefined;
    const version = await this.#versions?.open(id);
    return version && { id, run: version.run, version };
  }

  #tail(id: string): JournalTail {
    let tail = this.#tails.get(id);
    if (tail === undefined) {
      tail = new JournalTail(join(this.#root, id, 'results.jsonl'));
      this.#tails.set(id, tail);
    }
    return tail;
  }

  #shown(id: string): RunResult {
    const kept = this.#slim.get(id);
    if (kept !== undefined) return kept;
    const head = readHead(this.#root, id);
    if (head.results.length < LARGE) return this.#finished(id);
    const run = slimRun(this.#root, id, head);
    if (this.#slim.size >= MAX_KEPT) this.#slim.delete([...this.#slim.keys()][0]!);
    this.#slim.set(id, run);
    this.#tails.delete(id);
    return run;
  }

  #finished(id: string): RunResult {
    let run = this.#read.get(id);
    if (run === undefined) {
      run = readRun(this.#root, id);
      if (this.#read.size >= MAX_KEPT) this.#read.delete([...this.#read.keys()][0]!);
      this.#read.set(id, run);
      this.#tails.delete(id);
    }
    return run;
  }
}

function unfinished({ header }: StoredRun, tail: JournalTail, from: number): RunResult {
  const { agent, run_id, spec, started_at } = header;
  return {
    schema: RESULTS_SCHEMA,
    agent,
    run_id,
    spec,
    judge: { calls: 0, cost_usd: null },
    checks: [],
    summary: summarize({ results: tail.resultsFrom(0), checks: [] }),
    results: tail.resultsFrom(from),
    notices: ['this run is not finished: its verdict is not known yet'],
    started_at,
  };
}

import type { Ledger } from './ledger.ts';
import { aboutOf, type LiveAgent, openLiveAgent } from './live-agent.ts';
import type { LiveRunner, RunOptions } from './run-options.ts';
import type { SourcedRun, SourceReport, TraceSource } from './source.ts';

const DEFAULT_WORKERS = 4;

/** Runs the agent of the suite for every pending query. */
export class LiveSource implements TraceSource {
  readonly workers: number;
  readonly isPaid = true;
  readonly #agent: LiveAgent;
  readonly #ledger: Ledger;

  static async open(options: RunOptions, config: LiveRunner, ledger: Ledger): Promise<LiveSource> {
    const pending = ledger.pending();
    const workers = Math.max(1, Math.min(options.workers ?? DEFAULT_WORKERS, pending.length));
    const runs = pending.map(aboutOf);
    const agent = await openLiveAgent({ options, config, workers, budget: ledger, runs });
    return new LiveSource(agent, workers, ledger);
  }

  constructor(agent: LiveAgent, workers: number, ledger: Ledger) {
    this.#agent = agent;
    this.workers = workers;
    this.#ledger = ledger;
  }

  async *runs(): AsyncGenerator<SourcedRun> {
    for (const of of this.#ledger.pending()) {
      if (this.#ledger.stopped()) return;
      yield { ...of, outcome: () => this.#agent.run(of) };
    }
  }

  async close(): Promise<SourceReport> {
    const voids = await this.#agent.close();
    return { voids, user: this.#agent.usage() };
  }
}

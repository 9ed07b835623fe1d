import { present } from '@agentci/lib/data';
import type { CheckResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { RunEvent } from './run-event.ts';
import type { RunSink } from './run-sink.ts';

const LATE = new Set(['CAPTURE_LATE', 'CAPTURE_LATE_SPANS']);
/**
 * A call that no cassette answered. A replay with one proves nothing, whatever the queries check.
 */
const IN_REPLAY = 'CASSETTE_LATE';

/**
 * Calls that came after their query had its verdict. Passed checks on tools or cost may be wrong,
 * so the run cannot tell.
 */
export class LateCalls {
  readonly #queries: readonly Query[];
  #message: string | undefined;
  #inReplay: string | undefined;

  constructor(queries: readonly Query[]) {
    this.#queries = queries;
  }

  /** Wraps the sink to note its events. */
  listen(sink: RunSink | undefined): RunSink {
    return {
      record: (entry, trace) => sink?.record?.(entry, trace),
      keep: (result) => sink?.keep?.(result) ?? result,
      begin: () => sink?.begin?.(),
      sync: async () => sink?.sync?.(),
      event: (event) => {
        this.#see(event);
        sink?.event?.(event);
      },
    };
  }

  #see(event: RunEvent): void {
    if (event.type !== 'note') return;
    if (event.code === IN_REPLAY) this.#inReplay ??= event.message;
    else if (LATE.has(event.code)) this.#message ??= event.message;
  }

  /** Whether a call came that no cassette answered. */
  get wereInReplay(): boolean {
    return this.#inReplay !== undefined;
  }

  checks(): CheckResult[] {
    const looks = ({ path, cost, policies, policy }: Query): boolean =>
      path !== undefined || cost !== undefined || policies !== undefined || policy !== undefined;
    const could = (id: string, message: string): CheckResult => ({
      id,
      status: 'error',
      message,
      evidence: [],
    });
    return present([
      this.#inReplay === undefined ? undefined : could('cassette.late', this.#inReplay),
      this.#message === undefined || !this.#queries.some(looks)
        ? undefined
        : could('capture.late', this.#message),
    ]);
  }
}

import type { CheckResult } from '../results/run-result.ts';
import type { Query } from '../spec/suite.ts';
import type { RunEvent } from './run-options.ts';

const LATE = new Set(['CAPTURE_LATE', 'CAPTURE_LATE_SPANS']);

/** Calls that were seen when their query had its verdict: what passed on tools or cost may be wrong, so the run cannot tell. */
export class LateCalls {
  readonly #queries: readonly Query[];
  #message: string | undefined;

  constructor(queries: readonly Query[]) {
    this.#queries = queries;
  }

  see(event: RunEvent): void {
    if (event.type === 'note' && LATE.has(event.code)) this.#message ??= event.message;
  }

  checks(): CheckResult[] {
    const looks = ({ path, cost, policies, policy }: Query): boolean =>
      path !== undefined || cost !== undefined || policies !== undefined || policy !== undefined;
    if (this.#message === undefined || !this.#queries.some(looks)) return [];
    return [{ id: 'capture.late', status: 'error', message: this.#message, evidence: [] }];
  }
}

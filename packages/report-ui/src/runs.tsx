import type { CheckStatus, PageRun } from '@agentci/results';
import { count, ms, time, usd } from './format.ts';
import { Status } from './status.tsx';
import { Trends } from './trends.tsx';
import { visible } from './visible-text.ts';

const VERDICTS: Readonly<Record<number, { status: CheckStatus; label: string }>> = {
  0: { status: 'pass', label: 'passed' },
  1: { status: 'fail', label: 'failed' },
  2: { status: 'error', label: 'could not tell' },
};

/** The stored runs, newest first, and their trends. */
export function Runs({ runs, current }: { runs: readonly PageRun[]; current: string | undefined }) {
  const agent = runs.find(({ id }) => id === current)?.agent ?? runs[0]?.agent;
  return (
    <section>
      <h2>Runs</h2>
      {runs.length === 0 && <p class="empty">Nothing has been run here yet.</p>}
      {agent !== undefined && <Trends agent={agent} runs={runs} />}
      {runs.length > 0 && <h3>Stored runs</h3>}
      {runs.length > 0 && (
        <table class="grid cards">
          <thead>
            <tr>
              <th scope="col">Started (UTC)</th>
              <th scope="col">Verdict</th>
              <th scope="col">Agent</th>
              <th scope="col" class="number">
                Passed
              </th>
              <th scope="col" class="number">
                Failed
              </th>
              <th scope="col" class="number">
                Errors
              </th>
              <th scope="col" class="number">
                Cost
              </th>
              <th scope="col" class="number">
                Tokens
              </th>
              <th scope="col" class="number">
                Latency
              </th>
              <th scope="col">Compare</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={run.id} aria-current={run.id === current ? 'true' : undefined}>
                <td>
                  <a href={`#/?run=${encodeURIComponent(run.id)}`}>{time(run.started_at)}</a>
                  <span class="sub"> {visible(run.id)}</span>
                </td>
                <td>
                  {!run.finished ? (
                    <span class="status running">not finished</span>
                  ) : (
                    <Status {...VERDICTS[run.summary?.exit_code ?? 2]!} />
                  )}
                </td>
                <td>
                  {visible(run.agent)} <span class="sub">{visible(run.spec)}</span>
                  {run.branch !== undefined && <span class="sub"> on {visible(run.branch)}</span>}
                </td>
                <td class="number" data-label="passed">
                  {count(run.summary?.passed)}
                </td>
                <td class="number" data-label="failed">
                  {count(run.summary?.failed)}
                </td>
                <td class="number" data-label="errors">
                  {count(run.summary?.errors)}
                </td>
                <td class="number" data-label="cost">
                  {usd(run.cost_usd)}
                </td>
                <td class="number" data-label="tokens">
                  {count(run.total_tokens)}
                </td>
                <td class="number" data-label="latency">
                  {ms(run.median_latency_ms)}
                </td>
                <td>
                  {run.finished && run.id !== current && (
                    <a
                      href={`#/compare?before=${encodeURIComponent(run.id)}`}
                      aria-label={`compare with ${run.id}`}
                    >
                      compare
                    </a>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

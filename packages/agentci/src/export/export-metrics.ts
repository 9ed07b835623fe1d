import { resolve } from 'node:path';
import { writeFileAtomic } from '@agentci/lib/files';
import { describeRedirect, withDeadline } from '@agentci/lib/net';
import { UserError } from '@agentci/lib/problems';
import { type ReportContext, reportText } from '@agentci/reporters';
import { reporter } from '@agentci/reporters/prometheus';
import { readRun } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { specRuns, storedRunId } from '../stored-runs/stored-run.ts';
import { otlpMetrics } from './otlp-metrics.ts';

const SEND_MS = 10_000;

/** Metrics do not depend on the environment. */
export const PLAIN: Omit<ReportContext, 'version'> = {
  color: false,
  columns: 100,
  hasStepSummary: false,
  quiet: false,
  publicPath: (file) => file,
  checkSummary: () => undefined,
};

export async function send(url: string, init: RequestInit, io: Io): Promise<void> {
  const { response, text } = await withDeadline(
    { ms: SEND_MS, signal: io.signal },
    async ({ signal, isOver }) => {
      try {
        const answer = await fetch(url, { ...init, redirect: 'manual', signal });
        if (answer.status >= 400) return { response: answer, text: await answer.text() };
        // The body is not needed and may never end.
        await answer.body?.cancel();
        return { response: answer, text: '' };
      } catch (error) {
        let why: string;
        if (isOver()) why = `no answer within ${SEND_MS / 1000} s`;
        else if (error instanceof Error)
          why = (error.cause as Error | undefined)?.message ?? error.message;
        else why = String(error);
        throw new UserError('EXPORT_FAILED', `${url} cannot be reached: ${why}`);
      }
    },
  );
  const redirect = describeRedirect(response.status, response.headers.get('location'));
  if (redirect !== undefined) throw new UserError('EXPORT_FAILED', `${url} answered ${redirect}`);
  if (!response.ok)
    throw new UserError(
      'EXPORT_FAILED',
      `${url} answered HTTP ${response.status}: ${text.slice(0, 200)}`,
    );
  io.stderr.write(`agentci: sent to ${url}\n`);
}

export interface ExportFlags {
  readonly config?: string;
  readonly run?: string;
  readonly output?: string;
  readonly pushgateway?: string;
  readonly otlp?: string;
  readonly job: string;
}

/** Writes or sends the metrics of a stored run. */
export async function exportMetrics(
  { config, run: id, output, pushgateway, otlp, job }: ExportFlags,
  io: Io,
): Promise<number> {
  const { root, latest } = specRuns(config, io);
  const run = readRun(root, storedRunId(root, id, latest));
  const text = reportText(reporter.render(run, { ...PLAIN, version: io.version }));
  if (output !== undefined) writeFileAtomic(resolve(io.cwd, output), text);
  if (pushgateway !== undefined) {
    const url = `${pushgateway.replace(/\/$/, '')}/metrics/job/${encodeURIComponent(job)}/agent/${encodeURIComponent(run.agent)}`;
    await send(
      url,
      { method: 'PUT', body: text, headers: { 'content-type': 'text/plain; version=0.0.4' } },
      io,
    );
  }
  if (otlp !== undefined) {
    const at =
      run.started_at === undefined ? io.now() : Date.parse(run.started_at) + (run.duration_ms ?? 0);
    const body = otlpMetrics(text, {
      agent: run.agent,
      version: io.version,
      timeUnixNano: `${Math.round(at)}000000`,
    });
    await send(
      otlp,
      {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      },
      io,
    );
  }
  if (output === undefined && pushgateway === undefined && otlp === undefined)
    io.stdout.write(text);
  return 0;
}

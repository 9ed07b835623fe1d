import { describeRedirect, withDeadline } from '@agentci/lib/net';
import { UserError } from '@agentci/lib/problems';
import type { ReportContext } from '@agentci/reporters';
import type { Io } from '../cli/io.ts';

const SEND_MS = 10_000;

/** The numbers need nothing of the surroundings. */
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
        // Nothing in it matters, and it may never end.
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

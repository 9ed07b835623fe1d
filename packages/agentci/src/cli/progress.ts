import { formatMs, formatUsd } from '@agentci/lib/numbers';
import { escapeTerminalLine, plural } from '@agentci/lib/text';
import type { CheckStatus, QueryResult } from '@agentci/results';
import { caseText } from '@agentci/results';
import type { RunEvent } from '@agentci/run';
import type { Io } from './io.ts';

const REDRAW_MS = 100;
/** In a log, silence for longer than this looks like a hang. */
const PLAIN_LINE_MS = 10_000;

export interface Progress {
  readonly event: (event: RunEvent) => void;
  readonly stop: () => void;
}

/** Says on stderr how far a run is: one live line on a terminal, a plain line now and then in a log. */
export function startProgress(io: Io, options: { quiet: boolean }): Progress {
  if (options.quiet) return { event: () => {}, stop: () => {} };
  const started = io.now();
  const counts: Record<CheckStatus, number> = { pass: 0, warn: 0, fail: 0, error: 0, skip: 0 };
  const running = new Set<string>();
  let total = 0;
  let done = 0;
  let costUsd = 0;
  let drawn = false;

  const summary = () => {
    const elapsed = io.now() - started;
    const parts = [`${done}/${total}`];
    if (counts.fail > 0) parts.push(`${counts.fail} failed`);
    if (counts.error > 0) parts.push(plural(counts.error, 'error'));
    if (counts.warn > 0) parts.push(`${counts.warn} warned`);
    if (costUsd > 0) parts.push(formatUsd(costUsd));
    parts.push(formatMs(elapsed));
    // The average so far, workers included: what is left takes as long as what is done.
    if (done > 0 && done < total)
      parts.push(`about ${roughly((elapsed / done) * (total - done))} left`);
    return parts.join(' · ');
  };
  const clear = () => {
    if (drawn) io.stderr.write('\r\u001b[2K');
    drawn = false;
  };
  const draw = () => {
    const names = [...running].slice(0, 3).join(', ');
    const line = `${summary()}${names ? ` · ${escapeTerminalLine(names)}${running.size > 3 ? ` +${running.size - 3}` : ''}` : ''}`;
    io.stderr.write(`\r\u001b[2K${line.slice(0, Math.max(20, io.stderr.columns - 1))}`);
    drawn = true;
  };
  const timer = io.stderr.isTerminal
    ? setInterval(draw, REDRAW_MS)
    : setInterval(() => io.stderr.write(`agentci: ${summary()}\n`), PLAIN_LINE_MS);
  timer.unref();

  return {
    event: (event) => {
      switch (event.type) {
        case 'started':
          total = event.runs;
          break;
        case 'run_started':
          running.add(caseText(event));
          break;
        case 'run_ended':
          running.delete(caseText(event.result));
          done++;
          counts[event.result.status]++;
          costUsd += costOf(event.result);
          break;
        case 'retrying':
          clear();
          io.stderr.write(
            `agentci: ${escapeTerminalLine(caseText(event))}: [INFRA] ${escapeTerminalLine(event.message)}; try ${event.attempt + 1} in ${formatMs(event.delayMs)}\n`,
          );
          break;
        case 'note':
          clear();
          io.stderr.write(`agentci: ${escapeTerminalLine(event.message)} (${event.code})\n`);
          break;
        default:
          throw new Error(`unhandled event: ${JSON.stringify(event satisfies never)}`);
      }
    },
    stop: () => {
      clearInterval(timer);
      clear();
    },
  };
}

/** What is known of the cost; a run without one adds nothing. */
function costOf({ cost }: QueryResult): number {
  const known = (cost.details.actual as { cost_usd?: number | null } | undefined)?.cost_usd;
  return typeof known === 'number' && Number.isFinite(known) ? known : 0;
}

/** `40 s`, `3 min`, `2 h`: an estimate has no decimals. */
function roughly(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

import { formatMs, formatUsd } from '@agentci/lib/numbers';
import { escapeTerminalLine, plural } from '@agentci/lib/text';
import type { CheckStatus, QueryResult } from '@agentci/results';
import { caseText } from '@agentci/results';
import type { RunEvent } from '@agentci/run';
import type { Io } from './io.ts';

const REDRAW_MS = 100;
/** In a log, a longer silence looks like a hang. */
const PLAIN_LINE_MS = 10_000;

export interface Progress {
  readonly event: (event: RunEvent) => void;
  readonly stop: () => void;
}

/** Reports progress on stderr: one live line on a terminal, an occasional plain line in a log. */
export function startProgress(io: Io, options: { quiet: boolean }): Progress {
  return options.quiet ? { event: () => {}, stop: () => {} } : new ProgressLine(io);
}

class ProgressLine implements Progress {
  readonly #io: Io;
  readonly #started: number;
  readonly #counts: Record<CheckStatus, number> = { pass: 0, warn: 0, fail: 0, error: 0, skip: 0 };
  readonly #running = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #total = 0;
  #done = 0;
  #costUsd = 0;
  #isDrawn = false;

  constructor(io: Io) {
    this.#io = io;
    this.#started = io.now();
    this.#timer = io.stderr.isTerminal
      ? setInterval(() => this.#draw(), REDRAW_MS)
      : setInterval(() => io.stderr.write(`agentci: ${this.#summary()}\n`), PLAIN_LINE_MS);
    this.#timer.unref();
  }

  event = (event: RunEvent): void => {
    switch (event.type) {
      case 'started':
        this.#total = event.runs;
        break;
      case 'run_started':
        this.#running.add(caseText(event));
        break;
      case 'run_ended':
        this.#running.delete(caseText(event.result));
        this.#done++;
        this.#counts[event.result.status]++;
        this.#costUsd += costOf(event.result);
        break;
      case 'retrying':
        this.#say(
          `${escapeTerminalLine(caseText(event))}: [INFRA] ${escapeTerminalLine(event.message)}; try ${event.attempt + 1} in ${formatMs(event.delayMs)}`,
        );
        break;
      case 'note':
        this.#say(`${escapeTerminalLine(event.message)} (${event.code})`);
        break;
      default:
        throw new Error(`unhandled event: ${JSON.stringify(event satisfies never)}`);
    }
  };

  stop = (): void => {
    clearInterval(this.#timer);
    this.#clear();
  };

  #summary(): string {
    const elapsed = this.#io.now() - this.#started;
    const { fail, error, warn } = this.#counts;
    const parts = [`${this.#done}/${this.#total}`];
    if (fail > 0) parts.push(`${fail} failed`);
    if (error > 0) parts.push(plural(error, 'error'));
    if (warn > 0) parts.push(`${warn} warned`);
    if (this.#costUsd > 0) parts.push(formatUsd(this.#costUsd));
    parts.push(formatMs(elapsed));
    // Extrapolates from the average so far, which includes workers.
    if (this.#done > 0 && this.#done < this.#total)
      parts.push(`about ${roughly((elapsed / this.#done) * (this.#total - this.#done))} left`);
    return parts.join(' · ');
  }

  #draw(): void {
    const { size } = this.#running;
    const names = [...this.#running].slice(0, 3).join(', ');
    const line = `${this.#summary()}${names ? ` · ${escapeTerminalLine(names)}${size > 3 ? ` +${size - 3}` : ''}` : ''}`;
    const { stderr } = this.#io;
    stderr.write(`\r\u001b[2K${line.slice(0, Math.max(20, stderr.columns - 1))}`);
    this.#isDrawn = true;
  }

  #clear(): void {
    if (this.#isDrawn) this.#io.stderr.write('\r\u001b[2K');
    this.#isDrawn = false;
  }

  #say(line: string): void {
    this.#clear();
    this.#io.stderr.write(`agentci: ${line}\n`);
  }
}

/** The known cost. An unknown cost counts as 0. */
function costOf({ cost }: QueryResult): number {
  const known = (cost.details.actual as { cost_usd?: number | null } | undefined)?.cost_usd;
  return typeof known === 'number' && Number.isFinite(known) ? known : 0;
}

/** `40 s`, `3 min`, `2 h`. Estimates have no decimals. */
function roughly(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

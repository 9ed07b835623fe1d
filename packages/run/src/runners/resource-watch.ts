import { readFileSync } from 'node:fs';
import type { ResourceSample } from '@agentci/trace';

const SAMPLE_MS = 100;
const EARLY_SAMPLE_MS = 10;
const EARLY_MS = 300;
/** /proc counts 100 clock ticks per second on all common Linux systems. */
const MS_PER_TICK = 10;
const MAX_SOCKETS = 16;
const MAX_PROCESSES = 500;

/** Reads a file. Tests replace it. */
export type ReadText = (path: string) => string | undefined;

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

export interface ResourceWatch {
  /** The usage of the process and its children so far. Empty if the platform does not report it. */
  readonly stop: () => ResourceSample[];
}

/**
 * Samples CPU and memory of a process tree on Linux, and the energy counters of the processors if
 * they are readable. The counters cover the whole machine, so the tree gets its share of the busy
 * time and the sample is marked as estimated.
 */
export function watchResources(
  pid: number,
  {
    read = readText,
    now = () => performance.now(),
  }: { readonly read?: ReadText; readonly now?: () => number } = {},
): ResourceWatch {
  const started = now();
  const energyBefore = microjoules(read);
  const busyBefore = busyTicks(read('/proc/stat'));
  let used = 0;
  let peakMb = 0;
  // The last readings. An ended process can no longer be read.
  let lastSeen = started;
  const sample = (): void => {
    let ticks = 0;
    let mb = 0;
    for (const each of treeOf(pid, read)) {
      ticks += ticksOf(read(`/proc/${each}/stat`)) ?? 0;
      mb += residentMb(read(`/proc/${each}/status`)) ?? 0;
    }
    if (mb > 0) lastSeen = now();
    // The time of a child that left the tree without being waited for is lost, so the maximum
    // counts.
    used = Math.max(used, ticks);
    peakMb = Math.max(peakMb, mb);
  };
  sample();
  let timer: NodeJS.Timeout;
  const again = (): void => {
    // Frequent at first, otherwise most of a short process would fall between two samples.
    timer = setTimeout(
      () => {
        sample();
        again();
      },
      now() - started < EARLY_MS ? EARLY_SAMPLE_MS : SAMPLE_MS,
    );
    timer.unref();
  };
  again();
  return {
    stop: () => {
      clearTimeout(timer);
      sample();
      const durationMs = now() - started;
      const seenMs = lastSeen - started;
      if (peakMb === 0 || durationMs <= 0) return [];
      const cpu = seenMs > 0 ? { cpuPct: (100 * used * MS_PER_TICK) / seenMs } : {};
      const samples: ResourceSample[] = [
        { t: 0, durationMs, ...cpu, rssMb: peakMb, source: 'measured' },
      ];
      const busy = (busyTicks(read('/proc/stat')) ?? 0) - (busyBefore ?? 0);
      const joules = joulesOf(used / busy, energyBefore, microjoules(read));
      if (busy > 0 && joules !== undefined)
        samples.push({ t: 0, durationMs, joules, source: 'estimated' });
      return samples;
    },
  };
}

/** The share of a process in the energy of the machine. Ignores a counter that overflowed. */
const joulesOf = (
  share: number,
  before: number | undefined,
  after: number | undefined,
): number | undefined =>
  before !== undefined && after !== undefined && after > before
    ? ((after - before) / 1e6) * Math.min(1, share)
    : undefined;

/** Sum over all processors. Undefined if none is readable. */
function microjoules(read: ReadText): number | undefined {
  let sum: number | undefined;
  for (let i = 0; i < MAX_SOCKETS; i++) {
    const value = numberIn(read(`/sys/class/powercap/intel-rapl:${i}/energy_uj`));
    if (value === undefined) break;
    sum = (sum ?? 0) + value;
  }
  return sum;
}

function treeOf(pid: number, read: ReadText): number[] {
  const found = [pid];
  for (let i = 0; i < found.length && found.length < MAX_PROCESSES; i++) {
    const children = read(`/proc/${found[i]}/task/${found[i]}/children`) ?? '';
    found.push(...children.split(/\s+/).filter(Boolean).map(Number));
  }
  return found;
}

/**
 * Time of a process and of its ended children that were waited for. Live children are in the tree
 * themselves. The name in parentheses may contain any character, so fields are counted from its
 * end.
 */
function ticksOf(text: string | undefined): number | undefined {
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields.length < 22) return undefined;
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}

/** In kB, independent of the page size. */
function residentMb(text: string | undefined): number | undefined {
  const kb = /^VmRSS:\s*(\d+) kB$/m.exec(text ?? '')?.[1];
  return kb === undefined ? undefined : Number(kb) / 1024;
}

function busyTicks(text: string | undefined): number | undefined {
  const fields = text?.split('\n')[0]?.trim().split(/\s+/).slice(1).map(Number);
  if (fields === undefined || fields.length < 5) return undefined;
  // user, nice, system, then idle and waiting, then interrupts and the rest.
  return fields.reduce((sum, count, i) => sum + (i === 3 || i === 4 || i >= 8 ? 0 : count), 0);
}

const numberIn = (text: string | undefined): number | undefined => {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
};

import { readFileSync } from 'node:fs';
import type { ResourceSample } from '@agentci/trace';

const SAMPLE_MS = 100;
const EARLY_SAMPLE_MS = 10;
const EARLY_MS = 300;
/** Clock ticks of /proc are 100 a second on every Linux that is in use. */
const MS_PER_TICK = 10;
const MAX_SOCKETS = 16;
const MAX_PROCESSES = 500;

/** Where readings come from; a test gives its own. */
export type ReadText = (path: string) => string | undefined;

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

export interface ResourceWatch {
  /** What the process and its children used so far; empty where the platform does not tell. */
  readonly stop: () => ResourceSample[];
}

/**
 * Watches CPU and memory of a process tree on Linux, and the energy counters of the processors where they may be read.
 * Those are for the whole machine, so the tree gets its share of the busy time and the sample is called estimated.
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
  // What is known is known up to here: a process that has ended can no longer be asked.
  let lastSeen = started;
  const sample = (): void => {
    let ticks = 0;
    let mb = 0;
    for (const each of treeOf(pid, read)) {
      ticks += ticksOf(read(`/proc/${each}/stat`)) ?? 0;
      mb += residentMb(read(`/proc/${each}/status`)) ?? 0;
    }
    if (mb > 0) lastSeen = now();
    // A child that left the tree without being waited for takes its time with it; the most ever seen stays.
    used = Math.max(used, ticks);
    peakMb = Math.max(peakMb, mb);
  };
  sample();
  let timer: NodeJS.Timeout;
  const again = (): void => {
    // Often at first: most of a short process would else fall between two samples.
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

/** The share of a process in the energy of the machine. A counter that went round says nothing. */
const joulesOf = (
  share: number,
  before: number | undefined,
  after: number | undefined,
): number | undefined =>
  before !== undefined && after !== undefined && after > before
    ? ((after - before) / 1e6) * Math.min(1, share)
    : undefined;

/** All processors together; undefined when none may be read. */
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
 * Time of a process and of its children that have ended and were waited for; those still alive are in the tree themselves.
 * The name in parentheses may hold anything, so fields are counted from its end.
 */
function ticksOf(text: string | undefined): number | undefined {
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields.length < 22) return undefined;
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}

/** In kB, whatever the size of a page. */
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

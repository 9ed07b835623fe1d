import { readFileSync } from 'node:fs';
import type { ResourceSample } from '../trace/model.ts';

const SAMPLE_MS = 100;
/** Clock ticks of /proc are 100 a second on every Linux that is in use. */
const MS_PER_TICK = 10;
const PAGE_MB = 4096 / 1024 / 1024;
const RAPL = '/sys/class/powercap/intel-rapl:0/energy_uj';
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
 * Watches CPU and memory of a process tree on Linux, and the energy counter of the processor where it may be read. That
 * counter is for the whole machine, so the tree gets its share of the busy time and the sample is called estimated.
 */
export function watchResources(
  pid: number,
  { read = readText, now = () => performance.now() }: { readonly read?: ReadText; readonly now?: () => number } = {},
): ResourceWatch {
  const started = now();
  const energyBefore = numberIn(read(RAPL));
  const busyBefore = busyTicks(read('/proc/stat'));
  const ticks = new Map<number, number>();
  let peakMb = 0;
  const sample = (): void => {
    let mb = 0;
    for (const each of treeOf(pid, read)) {
      const stat = statOf(read(`/proc/${each}/stat`));
      if (stat === undefined) continue;
      // A child that ended stays counted with what it had at its last sample.
      ticks.set(each, Math.max(ticks.get(each) ?? 0, stat.ticks));
      mb += stat.rssPages * PAGE_MB;
    }
    peakMb = Math.max(peakMb, mb);
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      sample();
      const durationMs = now() - started;
      const used = [...ticks.values()].reduce((sum, count) => sum + count, 0);
      if (peakMb === 0 || durationMs <= 0) return [];
      const cpuPct = (100 * used * MS_PER_TICK) / durationMs;
      const samples: ResourceSample[] = [{ t: 0, durationMs, cpuPct, rssMb: peakMb, source: 'measured' }];
      const energyAfter = numberIn(read(RAPL));
      const busy = (busyTicks(read('/proc/stat')) ?? 0) - (busyBefore ?? 0);
      // A counter that went round says nothing.
      if (energyBefore !== undefined && energyAfter !== undefined && energyAfter > energyBefore && busy > 0) {
        const joules = ((energyAfter - energyBefore) / 1e6) * Math.min(1, used / busy);
        samples.push({ t: 0, durationMs, joules, source: 'estimated' });
      }
      return samples;
    },
  };
}

function treeOf(pid: number, read: ReadText): number[] {
  const found = [pid];
  for (let i = 0; i < found.length && found.length < MAX_PROCESSES; i++) {
    const children = read(`/proc/${found[i]}/task/${found[i]}/children`) ?? '';
    found.push(...children.split(/\s+/).filter(Boolean).map(Number));
  }
  return found;
}

/** The name in parentheses may hold anything, so fields are counted from its end. */
function statOf(text: string | undefined): { ticks: number; rssPages: number } | undefined {
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields.length < 22) return undefined;
  return { ticks: Number(fields[11]) + Number(fields[12]), rssPages: Number(fields[21]) };
}

function busyTicks(text: string | undefined): number | undefined {
  const fields = text?.split('\n')[0]?.trim().split(/\s+/).slice(1).map(Number);
  if (fields === undefined || fields.length < 5) return undefined;
  // user, nice, system, then idle and waiting, then interrupts and the rest.
  return fields.reduce((sum, count, i) => sum + (i === 3 || i === 4 || i >= 8 ? 0 : count), 0);
}

const numberIn = (text: string | undefined): number | undefined => {
  const value = text === undefined ? Number.NaN : Number(text.trim());
  return Number.isFinite(value) ? value : undefined;
};

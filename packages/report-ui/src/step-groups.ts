import type { PageStep } from '@agentci/results';

/** Ordered steps, and the basis of the order. */
export interface OrderedSteps {
  readonly steps: readonly PageStep[];
  readonly basis: 'times' | 'some times' | 'recording';
}

/** Ordered by time if every step has one, else in recording order. */
export function orderSteps(steps: readonly PageStep[]): OrderedSteps {
  const timed = steps.filter(({ start_ms }) => start_ms !== undefined).length;
  if (timed < steps.length || timed < 2)
    return { steps, basis: timed === 0 || timed < 2 ? 'recording' : 'some times' };
  return {
    steps: [...steps].sort((a, b) => a.start_ms! - b.start_ms! || a.seq - b.seq),
    basis: 'times',
  };
}

/** Repeated steps: `rounds` of the same few. A single step is a group of one round. */
export interface StepGroup {
  readonly rounds: readonly (readonly PageStep[])[];
}

const MAX_PERIOD = 4;

/** Folds repetitions: the same call twice in a row, or the same few steps three times in a row. */
export function groupSteps(steps: readonly PageStep[]): StepGroup[] {
  const keys = steps.map(({ kind, title, agent, depth }) =>
    JSON.stringify([kind, title, agent, depth]),
  );
  const groups: StepGroup[] = [];
  for (let at = 0; at < steps.length; ) {
    const { period, times } = longestRepeat(keys, at);
    groups.push({
      rounds: Array.from({ length: times }, (_, i) =>
        steps.slice(at + i * period, at + (i + 1) * period),
      ),
    });
    at += period * times;
  }
  return groups;
}

function longestRepeat(keys: readonly string[], at: number): { period: number; times: number } {
  let best = { period: 1, times: 1 };
  for (let period = 1; period <= MAX_PERIOD; period++) {
    let times = 1;
    while (isSame(keys, at, at + times * period, period)) times++;
    if (times >= (period === 1 ? 2 : 3) && times * period > best.times * best.period)
      best = { period, times };
  }
  return best;
}

function isSame(keys: readonly string[], a: number, b: number, length: number): boolean {
  if (b + length > keys.length) return false;
  for (let i = 0; i < length; i++) if (keys[a + i] !== keys[b + i]) return false;
  return true;
}

/** `retriever_tool`, eleven times. */
export function collapseNames(names: readonly string[]): { name: string; times: number }[] {
  const found: { name: string; times: number }[] = [];
  for (const name of names) {
    const last = found.at(-1);
    if (last?.name === name) last.times++;
    else found.push({ name, times: 1 });
  }
  return found;
}

export const isBad = ({ status, error }: PageStep): boolean =>
  status === 'error' || status === 'denied' || error !== undefined;

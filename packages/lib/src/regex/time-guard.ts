import vm from 'node:vm';

/** Time limit of a guarded call. Beyond it the answer is "could not tell". */
export const GUARD_TIMEOUT_MS = 100;

const MAX_TRIES = 5;
/**
 * If the process used less than this share of the limit as CPU time, the machine was busy with
 * something else.
 */
const STARVED = 0.6;

interface Slot {
  run: () => unknown;
}

let guard: { script: vm.Script; context: vm.Context; slot: Slot } | undefined;

/**
 * Runs work that may never end, such as a backtracking pattern, with a time limit. Costs about 0.15
 * ms per call, so use it only without a proven bound.
 */
export function runGuarded<T>(
  work: () => T,
): { readonly ok: true; readonly value: T } | { readonly ok: false } {
  if (guard === undefined) {
    const slot: Slot = Object.assign(Object.create(null), { run: () => undefined });
    guard = { script: new vm.Script('run()'), context: vm.createContext(slot), slot };
  }
  guard.slot.run = work;
  try {
    for (let tries = 1; ; tries++) {
      const before = process.cpuUsage();
      try {
        return {
          ok: true,
          value: guard.script.runInContext(guard.context, { timeout: GUARD_TIMEOUT_MS }) as T,
        };
      } catch (error) {
        if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT')
          throw error;
        // The limit is wall time. On a busy machine the work had hardly begun.
        const { user, system } = process.cpuUsage(before);
        const isStarved = (user + system) / 1000 < GUARD_TIMEOUT_MS * STARVED;
        if (!isStarved || tries === MAX_TRIES) return { ok: false };
      }
    }
  } finally {
    guard.slot.run = () => undefined;
  }
}

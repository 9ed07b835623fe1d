/** Longer ones would end at once: a timer has 31 bits. */
const MAX_MS = 2 ** 31 - 1;

export interface Deadline {
  /** Aborted when the time is over, and when the wait is ended from outside. */
  readonly signal: AbortSignal;
  /** Whether it was the time that ended the wait. */
  readonly isOver: () => boolean;
}

/**
 * Does something that must not take longer than `ms`, and ends it early when `signal` does. The timer holds on to what it aborts: a signal
 * made by `AbortSignal.any` can be collected as garbage before its time is over (seen in Node 20), and then nothing ends the wait.
 */
export async function withDeadline<T>(
  { ms, signal }: { readonly ms: number; readonly signal?: AbortSignal | undefined },
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let isOver = false;
  const onTime = (): void => {
    isOver = !controller.signal.aborted;
    controller.abort(new DOMException(`no end within ${ms} ms`, 'TimeoutError'));
  };
  const onAbort = (): void => controller.abort(signal?.reason);
  const timer = setTimeout(onTime, Math.min(ms, MAX_MS));
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work({ signal: controller.signal, isOver: () => isOver });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Timers have 31 bits. A longer one would end at once. */
const MAX_MS = 2 ** 31 - 1;

export interface Deadline {
  /** Aborted on timeout, and if the caller aborts. */
  readonly signal: AbortSignal;
  /** Whether the timeout ended the wait. */
  readonly isOver: () => boolean;
}

/**
 * Runs an action with a timeout and an optional abort signal. Keeps a timer with a reference,
 * because Node 20 may collect a signal made by `AbortSignal.any` before its timeout, and then
 * nothing ends the wait.
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

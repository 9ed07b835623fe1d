/**
 * Waits for Ctrl-C or another signal. This is the normal end of a server, so it returns success.
 */
export function untilStopped(signal: AbortSignal): Promise<number> {
  // A signal handler alone does not keep a process alive.
  const alive = setInterval(() => {}, 60_000);
  return new Promise((resolve) => {
    const done = (): void => {
      clearInterval(alive);
      resolve(0);
    };
    if (signal.aborted) done();
    else signal.addEventListener('abort', done, { once: true });
  });
}

/** Waits for Ctrl-C or the like; being stopped is how a server ends, so that is a success. */
export function untilStopped(signal: AbortSignal): Promise<number> {
  // A signal alone does not keep a process alive.
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

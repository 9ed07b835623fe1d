/**
 * Runs a task for every item, up to `workers` at a time, in order. Takes no new items once `stop`
 * returns true.
 */
export async function runPool<T>(
  items: readonly T[],
  options: { workers: number; stop?: () => boolean },
  task: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length && !options.stop?.()) await task(items[next++]!);
  };
  await Promise.all(
    Array.from({ length: Math.max(1, Math.min(options.workers, items.length)) }, worker),
  );
}

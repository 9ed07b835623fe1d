import { setFlagsFromString } from 'node:v8';

/** From this many queries on, memory is worth more than the time it takes to collect garbage more often. */
const LARGE = 20_000;

/**
 * Left alone, the engine lets the heap grow to several times what is in use before it looks for garbage. A run of a
 * hundred thousand queries then takes half a gigabyte for a quarter of that.
 */
export async function keepHeapTight(queries: number): Promise<void> {
  if (queries < LARGE) return;
  setFlagsFromString('--heap-growing-percent=25');
  // New objects would get up to 48 MB; most are garbage by the time a tenth of that is full.
  setFlagsFromString('--semi-space-growth-factor=1');
  // The limit is set anew when garbage is collected, and the next time may be hundreds of megabytes away.
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-expose-gc');
}

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';

/** A place beside the repository, where large recordings that are not ours to publish can be put. */
export const outside = (path: string): string =>
  fileURLToPath(new URL(`../../../../shared/${path}`, import.meta.url));

/**
 * Tests on fixtures that are not in the repository. Without them they are skipped and their name says what they need; the
 * same behaviour is tested on fixtures inside, so a fresh clone misses breadth and no feature.
 */
export function describeOutside(name: string, path: string, tests: (folder: string) => void): void {
  const place = outside(path);
  describe.skipIf(!existsSync(place))(`${name} (needs ../shared/${path})`, () => tests(place));
}

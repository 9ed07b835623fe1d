import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';

/** A path next to the repository, for large recordings that we may not publish. */
export const outside = (path: string): string =>
  fileURLToPath(new URL(`../../../../shared/${path}`, import.meta.url));

/**
 * Tests on fixtures outside the repository. If the fixtures are missing, the tests are skipped and
 * their name says so. Fixtures inside the repository cover the same features, so a fresh clone only
 * loses breadth.
 */
export function describeOutside(name: string, path: string, tests: (folder: string) => void): void {
  const place = outside(path);
  describe.skipIf(!existsSync(place))(`${name} (needs ../shared/${path})`, () => tests(place));
}

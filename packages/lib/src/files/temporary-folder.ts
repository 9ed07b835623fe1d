import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders that are there now. A process that is ended early removes them as it goes. */
const made = new Set<string>();

/** Makes a folder under the system's temporary one, until `removeTemporaryFolder`. Only this user can read it. */
export function makeTemporaryFolder(prefix: string): string {
  const dir = mkdtempSync(join(tmpdir(), prefix));
  if (made.size === 0) process.once('exit', removeAll);
  made.add(dir);
  return dir;
}

export function removeTemporaryFolder(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
  made.delete(dir);
  if (made.size === 0) process.off('exit', removeAll);
}

function removeAll(): void {
  for (const left of made) rmSync(left, { recursive: true, force: true });
}

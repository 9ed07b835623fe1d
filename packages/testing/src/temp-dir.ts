import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

type Files = Readonly<Record<string, string | object | undefined>>;

/** A folder of its own for one test, with these files in it; gone when the test is over. */
export function tempDir(files: Files = {}): string {
  const dir = makeDir(files);
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** As `tempDir`, for tests that run side by side: whoever makes it removes it. */
export function makeDir(files: Files = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-'));
  for (const [name, content] of Object.entries(files)) {
    if (content === undefined) continue;
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return dir;
}

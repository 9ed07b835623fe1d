import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

type Files = Readonly<Record<string, string | object | undefined>>;

/** A folder with these files for one test, deleted after the test. */
export function tempDir(files: Files = {}): string {
  const dir = makeDir(files);
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Like `tempDir`, for concurrent tests. The caller deletes it. */
export function makeDir(files: Files = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-'));
  for (const [name, content] of Object.entries(files)) {
    if (content === undefined) continue;
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return dir;
}

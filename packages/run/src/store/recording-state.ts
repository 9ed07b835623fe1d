import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

/** Size and time of every file, to detect changed recordings without reading them. */
export function stateOf(path: string, seen: Set<string> = new Set()): string {
  const facts = factsOf(path);
  // A dangling link is not read, so it has no state.
  if (facts === undefined) return 'gone';
  if (!facts.isDirectory()) return `${facts.size}@${facts.mtimeMs}`;
  // A link to a parent folder would recurse forever.
  const folder = realpathSync(path);
  if (seen.has(folder)) return 'seen';
  seen.add(folder);
  return readdirSync(path)
    .sort()
    .map((name) => `${name}=${stateOf(join(path, name), seen)}`)
    .join(';');
}

function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

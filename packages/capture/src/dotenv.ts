import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROVIDERS } from './providers.ts';

const FILES = ['.env.local', '.env'];
const MAX_BYTES = 1024 * 1024;
const LINE =
  /^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^#\n]*))/gm;

/**
 * Provider settings in the agent's own `.env` files. Agents read them at their start without
 * overwriting variables, so an address or key there shows where the agent would have called.
 */
export function providerSettings(dir: string): Record<string, string> {
  const names = new Set(
    PROVIDERS.flatMap(({ keys, variables }) => [...keys, ...variables.map(({ name }) => name)]),
  );
  const found: Record<string, string> = {};
  for (const file of FILES) {
    for (const [, name = '', double, single, bare] of readText(join(dir, file)).matchAll(LINE)) {
      const value = double ?? single ?? bare?.trim() ?? '';
      if (names.has(name) && value !== '') found[name] ??= value;
    }
  }
  return found;
}

function readText(path: string): string {
  try {
    const bytes = readFileSync(path);
    return bytes.length > MAX_BYTES ? '' : bytes.toString('utf8');
  } catch {
    return '';
  }
}

import { readFileSync, statSync } from 'node:fs';
import { isObject } from '@agentci/lib/data';
import { parseExact } from '@agentci/lib/json';
import { UserError } from '@agentci/lib/problems';
import type { TapLine } from '../tap-log.ts';

const MAX_BYTES = 256 * 1024 * 1024;

/** The lines of a tap's file. */
export function readTapLines(path: string): TapLine[] {
  let text: string;
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error('it is larger than 256 MB');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? message})`;
    throw new UserError('CASSETTE_DAMAGED', `the cassette "${path}" ${why}`, {
      hint: 'record it first: agentci tap --cassette record=FILE -- SERVER',
    });
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, i) => {
    try {
      const value = parseExact(line);
      if (isTapLine(value)) return value;
    } catch {
      // Reported below.
    }
    throw new UserError('CASSETTE_DAMAGED', `${path}:${i + 1} is not a line of a recording`);
  });
}

const isTapLine = (value: unknown): value is TapLine & object =>
  isObject(value) &&
  (value.dir === 'c2s' || value.dir === 's2c') &&
  (isObject(value.message) || isObject(value.dropped));

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { detectFormat, readTraceItems } from '@agentci/formats';
import type { Trace } from '@agentci/trace';
import { totals, validateTrace } from '@agentci/trace';
import { lossesIn, type Reading, readingOf, unknowable } from '../conformance/evidence.ts';
import { mutateBytes, mutateValue, seeded } from './mutate.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ROOTS = [here('../../../testing/recordings'), here('../../../../../shared/traces')];
const MAX_FILE_BYTES = 200_000;

export interface FuzzReport {
  readonly tried: number;
  readonly traces: number;
  readonly problems: number;
  /** Maximum CPU time of one recording in milliseconds. */
  readonly slowestMs: number;
  /** Number of mutations after which fewer calls were found. */
  readonly hiding: number;
  readonly broken: readonly string[];
}

/**
 * Reads mutated recordings and checks the reader: nothing is thrown, every trace fits the model,
 * every problem has a code and a sentence, nothing takes longer than a second, and a single change
 * that hides a call is reported, unless nothing else could mention it.
 */
export async function fuzzRecordings(options: {
  count: number;
  seed: number;
}): Promise<FuzzReport> {
  const random = seeded(options.seed);
  const files = ROOTS.filter(existsSync).flatMap(filesIn);
  const broken: string[] = [];
  let traces = 0;
  let problems = 0;
  let slowestMs = 0;
  let hiding = 0;
  for (let i = 0; i < options.count; i++) {
    const file = files[Math.floor(random() * files.length)]!;
    const { bytes, places, hasWords } = mutated(file.bytes, random);
    const before = process.cpuUsage();
    const read: Trace[] = [];
    let refused = 0;
    try {
      detectFormat(bytes);
      for await (const item of readTraceItems(bytes)) {
        if (!item.ok) {
          problems++;
          refused++;
          if (item.problem.code === '' || item.problem.message === '')
            throw new Error('a problem that says nothing');
          continue;
        }
        traces++;
        read.push(item.trace);
        totals(item.trace);
        const checked = validateTrace(JSON.parse(JSON.stringify(item.trace)));
        if (!checked.ok)
          throw new Error(`a trace outside the model: ${checked.issues[0]?.message}`);
      }
    } catch (error) {
      if (broken.length < 20)
        broken.push(
          `${file.name} (seed ${options.seed}, ${i}): ${(error as Error).stack?.split('\n').slice(0, 4).join(' | ')}`,
        );
    }
    const { user, system } = process.cpuUsage(before);
    const whole = await wholeOf(file);
    const after = { traces: read, problems: refused };
    if (places.length === 1 && !hasWords && countCalls(after) < countCalls(whole)) {
      hiding++;
      if (isHidden({ file, place: places[0]!, whole, after, bytes }) && broken.length < 20)
        broken.push(
          `${file.name} (seed ${options.seed}, ${i}): a call is hidden at ${places[0]} and nothing says so`,
        );
    }
    const ms = (user + system) / 1000;
    slowestMs = Math.max(slowestMs, ms);
    if (ms > 1000 && broken.length < 20)
      broken.push(`${file.name} (seed ${options.seed}, ${i}): took ${Math.round(ms)} ms`);
  }
  return { tried: options.count, traces, problems, slowestMs, hiding, broken };
}

interface File {
  readonly path: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

const wholes = new Map<string, Reading>();

/** The reading of an unchanged recording. */
async function wholeOf({ path, bytes }: File): Promise<Reading> {
  const known = wholes.get(path);
  if (known !== undefined) return known;
  const reading = await readingOf(bytes);
  wholes.set(path, reading);
  return reading;
}

const countCalls = ({ traces }: Reading): number =>
  traces.reduce((sum, { steps }) => sum + steps.filter(({ kind }) => kind === 'tool').length, 0);

/**
 * Whether calls disappeared without a report. If a part may disappear unnoticed, so may its
 * children.
 */
function isHidden(change: {
  file: File;
  place: string;
  whole: Reading;
  after: Reading;
  bytes: Uint8Array;
}): boolean {
  // Replacing a whole record creates a different recording.
  const formats = ({ traces }: Reading): string => traces.map(({ source }) => source.format).join();
  if (['', '*'].includes(change.place) && formats(change.after) !== formats(change.whole))
    return false;
  const losses = lossesIn(change.whole, change.after, change.bytes).filter(
    ({ what }) => what === 'tool calls',
  );
  const format = change.file.name.split('/')[0]!;
  const parts = change.place.split('.');
  // Parts that may disappear one by one may also disappear together.
  const around = [...parts.map((_, i) => parts.slice(0, i + 1).join('.')), `${change.place}.*`];
  return (
    losses.length > 0 &&
    !around.some((place) => unknowable(format, 'tool calls', place) !== undefined)
  );
}

/** Changed bytes have no paths, because their effect is unknown. */
function mutated(
  bytes: Uint8Array,
  random: () => number,
): { bytes: Uint8Array; places: readonly string[]; hasWords: boolean } {
  if (random() < 0.25) return { bytes: mutateBytes(bytes, random), places: [], hasWords: false };
  const text = Buffer.from(bytes).toString('utf8');
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  try {
    const value: unknown = JSON.parse(text);
    const changed = mutateValue(value, random);
    return {
      bytes: Buffer.from(JSON.stringify(changed.value) ?? ''),
      places: changed.places,
      hasWords: changed.hasWords,
    };
  } catch {
    try {
      const values: unknown[] = lines.map((line) => JSON.parse(line));
      const { value, places, hasWords } = mutateValue(values, random);
      const text = (Array.isArray(value) ? value : [value])
        .map((line) => JSON.stringify(line))
        .join('\n');
      return { bytes: Buffer.from(text), places, hasWords };
    } catch {
      return { bytes: mutateBytes(bytes, random), places: [], hasWords: false };
    }
  }
}

function filesIn(root: string): File[] {
  return readdirSync(root, { recursive: true })
    .map(String)
    .sort()
    .flatMap((name) => {
      const path = join(root, name);
      const info = statSync(path);
      return info.isFile() && info.size < MAX_FILE_BYTES && !name.endsWith('.md')
        ? [{ path, name, bytes: readFileSync(path) }]
        : [];
    });
}

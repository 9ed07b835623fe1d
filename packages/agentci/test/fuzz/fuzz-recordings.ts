import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { detectFormat } from '../../src/adapters/reader/detect.ts';
import { readTraceItems } from '../../src/adapters/reader/read-traces.ts';
import { validateTrace } from '../../src/trace/schema.ts';
import { totals } from '../../src/trace/totals.ts';
import { mutateBytes, mutateValue, seeded } from './mutate.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ROOTS = [here('../recordings'), here('../../../../../shared/traces')];
const MAX_FILE_BYTES = 200_000;

export interface FuzzReport {
  readonly tried: number;
  readonly traces: number;
  readonly problems: number;
  /** The longest any one took, in milliseconds of processor time. */
  readonly slowestMs: number;
  readonly broken: readonly string[];
}

/**
 * Reads mutated recordings and holds the reader to its word: nothing is thrown, every trace fits the model, every problem
 * has a code and a sentence, nothing takes longer than a second.
 */
export async function fuzzRecordings(options: { count: number; seed: number }): Promise<FuzzReport> {
  const random = seeded(options.seed);
  const files = ROOTS.filter(existsSync).flatMap(filesIn);
  const broken: string[] = [];
  let traces = 0;
  let problems = 0;
  let slowestMs = 0;
  for (let i = 0; i < options.count; i++) {
    const file = files[Math.floor(random() * files.length)]!;
    const bytes = mutated(file.bytes, random);
    const before = process.cpuUsage();
    try {
      detectFormat(bytes);
      for await (const item of readTraceItems(bytes)) {
        if (!item.ok) {
          problems++;
          if (item.problem.code === '' || item.problem.message === '') throw new Error('a problem that says nothing');
          continue;
        }
        traces++;
        totals(item.trace);
        const checked = validateTrace(JSON.parse(JSON.stringify(item.trace)));
        if (!checked.ok) throw new Error(`a trace outside the model: ${checked.issues[0]?.message}`);
      }
    } catch (error) {
      if (broken.length < 20)
        broken.push(
          `${file.name} (seed ${options.seed}, ${i}): ${(error as Error).stack?.split('\n').slice(0, 4).join(' | ')}`,
        );
    }
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    slowestMs = Math.max(slowestMs, ms);
    if (ms > 1000 && broken.length < 20)
      broken.push(`${file.name} (seed ${options.seed}, ${i}): took ${Math.round(ms)} ms`);
  }
  return { tried: options.count, traces, problems, slowestMs, broken };
}

function mutated(bytes: Uint8Array, random: () => number): Uint8Array {
  if (random() < 0.25) return mutateBytes(bytes, random);
  const text = Buffer.from(bytes).toString('utf8');
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  try {
    const value: unknown = JSON.parse(text);
    return Buffer.from(JSON.stringify(mutateValue(value, random)) ?? '');
  } catch {
    try {
      const values: unknown[] = lines.map((line) => JSON.parse(line));
      const changed = mutateValue(values, random);
      return Buffer.from(
        (Array.isArray(changed) ? changed : [changed]).map((value) => JSON.stringify(value)).join('\n'),
      );
    } catch {
      return mutateBytes(bytes, random);
    }
  }
}

function filesIn(root: string): { name: string; bytes: Uint8Array }[] {
  return readdirSync(root, { recursive: true })
    .map(String)
    .sort()
    .flatMap((name) => {
      const path = join(root, name);
      const info = statSync(path);
      return info.isFile() && info.size < MAX_FILE_BYTES && !name.endsWith('.md')
        ? [{ name, bytes: readFileSync(path) }]
        : [];
    });
}

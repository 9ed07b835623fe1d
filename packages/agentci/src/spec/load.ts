import { readFileSync, statSync } from 'node:fs';
import { loadCel } from '../kit/cel/load.ts';
import type { Diagnostic } from '../kit/diagnostic.ts';
import { UserError } from '../kit/user-error.ts';
import { MAX_YAML_SIZE } from '../kit/yaml.ts';
import { CelNeeded } from '../policy/condition.ts';
import { EngineNeeded, ExpertNeeded } from './expert.ts';
import { type ParsedSpec, readSpec } from './read-spec.ts';
import { SpecError } from './spec-error.ts';
import type { Suite } from './suite.ts';

export interface LoadedSpec {
  readonly suite: Suite;
  /** Warnings only. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a spec file. Throws `SpecError` with every problem when it cannot be used, and another `UserError` when it cannot be read. */
export async function loadSpec(path: string): Promise<LoadedSpec> {
  const { suite, diagnostics } = await readInTurns(readSpecText(path), path);
  if (suite === undefined) throw new SpecError(path, diagnostics);
  return { suite, diagnostics };
}

/** A valid spec needs no expert; for any other, reading it twice costs less than loading the expert for all. */
async function readInTurns(text: string, file: string): Promise<ParsedSpec> {
  // The engine for expressions is loaded where the text may have one; an included file may still ask for it below.
  if (text.includes('expr')) await loadCel();
  try {
    return readSpec(text, { file });
  } catch (error) {
    if (error instanceof CelNeeded) {
      await loadCel();
      return readInTurns(text, file);
    }
    if (!(error instanceof ExpertNeeded)) throw error;
    const { fullExpert } = await import('./full-expert.ts');
    if (error instanceof EngineNeeded) await loadCel();
    try {
      return readSpec(text, { file, expert: fullExpert });
    } catch (second) {
      if (!(second instanceof CelNeeded)) throw second;
      await loadCel();
      return readSpec(text, { file, expert: fullExpert });
    }
  }
}

/** The text of a spec file; what is wrong with the file itself is a `UserError`. */
export function readSpecText(path: string): string {
  const bytes = readBytes(path);
  if (bytes === undefined)
    throw located(path, 'YAML_TOO_LARGE', `the file is larger than ${MAX_YAML_SIZE} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw located(path, 'YAML_ENCODING', 'the file is not UTF-8 text', badBytePlace(bytes));
  }
}

interface BadByte {
  readonly line: number;
  readonly column: number;
  readonly hint: string;
}

const located = (file: string, code: string, message: string, place?: BadByte): SpecError =>
  new SpecError(file, [{ severity: 'error', code, message, file, line: 1, column: 1, ...place }]);

/** Where the text stops being UTF-8. Everything before the first replacement character was read. */
function badBytePlace(bytes: Uint8Array): BadByte {
  const isWide =
    (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isWide) return { line: 1, column: 1, hint: 'the file is UTF-16; save it as UTF-8' };
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  // A replacement character that the file itself holds is three valid bytes; the first invalid place differs from it.
  let at = text.indexOf('\ufffd');
  let byte = Buffer.byteLength(text.slice(0, at));
  while (at !== -1 && isReal(bytes, byte)) {
    const next = text.indexOf('\ufffd', at + 1);
    byte += Buffer.byteLength(text.slice(at, next));
    at = next;
  }
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: lines.length, column: lines.at(-1)!.length + 1, hint: 'save the file as UTF-8' };
}

const isReal = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd;

/** The file under its other ending, where that is what is there. */
function hintFor(path: string): string {
  const other = path.replace(/\.ya?ml$/, (ending) => (ending === '.yml' ? '.yaml' : '.yml'));
  if (other !== path && statSync(other, { throwIfNoEntry: false })?.isFile())
    return `there is ${other}: -c ${other}`;
  return 'name another with -c, or write one with "agentci init"';
}

// One small file: reading it at once is faster than asking the thread pool.
function readBytes(path: string): Uint8Array | undefined {
  try {
    const found = statSync(path);
    // A pipe would wait for a writer; a folder or device is not a spec.
    if (!found.isFile()) throw new Error('not a file');
    return found.size > MAX_YAML_SIZE ? undefined : readFileSync(path);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const isMissing = code === 'ENOENT';
    const reason = isMissing ? 'does not exist' : `cannot be read (${code ?? 'it is not a file'})`;
    throw new UserError(
      isMissing ? 'SPEC_NOT_FOUND' : 'SPEC_UNREADABLE',
      `the spec ${path} ${reason}`,
      {
        hint: isMissing ? hintFor(path) : undefined,
        cause,
      },
    );
  }
}

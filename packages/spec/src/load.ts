import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { refuseLinksIn } from '@agentci/lib/files';
import { type Diagnostic, formatDiagnostic, UserError } from '@agentci/lib/problems';
import { MAX_YAML_SIZE } from '@agentci/lib/yaml';
import { parseSpec } from './parse-spec.ts';
import type { Suite } from './suite.ts';

export interface LoadedSpec {
  readonly suite: Suite;
  /** Warnings only. */
  readonly diagnostics: readonly Diagnostic[];
}

/** An invalid spec. `diagnostics` contains every problem, sorted by place, with warnings. */
export class SpecError extends UserError {
  constructor(file: string, diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter((d) => d.severity === 'error');
    const first = errors[0] === undefined ? '' : `\n${formatDiagnostic(errors[0])}`;
    super(
      'SPEC_INVALID',
      `${file} has ${errors.length} problem${errors.length === 1 ? '' : 's'}${first}`,
      { diagnostics },
    );
    this.name = 'SpecError';
  }
}

/**
 * Reads a spec file. Throws `SpecError` with every problem if it is invalid, and another
 * `UserError` if it is unreadable.
 */
export function readSpecFile(path: string): LoadedSpec {
  refuseLinksIn(dirname(path));
  const { suite, diagnostics } = parseSpec(readSpecText(path), { file: path });
  if (suite === undefined) throw new SpecError(path, diagnostics);
  return { suite, diagnostics };
}

/** Async form of `readSpecFile`, because the public API returns a promise. */
export const loadSpec = async (path: string): Promise<LoadedSpec> => readSpecFile(path);

/** The text of a spec file. A problem of the file itself is a `UserError`. */
function readSpecText(path: string): string {
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

/**
 * The position of the first invalid UTF-8. Everything before the first replacement character was
 * valid.
 */
function badBytePlace(bytes: Uint8Array): BadByte {
  const isWide =
    (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isWide) return { line: 1, column: 1, hint: 'the file is UTF-16; save it as UTF-8' };
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  // A replacement character in the file itself is three valid bytes. The first invalid position
  // differs from it.
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

/** Suggests the file with its other extension, if it exists. */
function hintFor(path: string): string {
  const other = path.replace(/\.ya?ml$/, (ending) => (ending === '.yml' ? '.yaml' : '.yml'));
  if (other !== path && statSync(other, { throwIfNoEntry: false })?.isFile())
    return `there is ${other}: -c ${other}`;
  return 'name another with -c, or write one with "agentci init"';
}

function readBytes(path: string): Uint8Array | undefined {
  try {
    const found = statSync(path);
    // A pipe would wait for a writer. A folder or device is not a spec.
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

import { readFileSync, statSync } from 'node:fs';
import type { Diagnostic } from '../kit/diagnostic.ts';
import { UserError } from '../kit/user-error.ts';
import { MAX_YAML_SIZE, parseYaml } from '../kit/yaml.ts';
import { isAssaySuite, readAssaySuite } from './assay-suite.ts';
import { INCLUDE_TAG, resolveIncludes } from './include.ts';
import { Problems } from './problems.ts';
import { SpecError } from './spec-error.ts';
import type { Suite } from './suite.ts';
import { readSuite } from './suite-reader.ts';
import { isBroken } from './value-check.ts';

export interface ParsedSpec {
  /** Absent when any diagnostic is an error. */
  readonly suite?: Suite;
  /** Everything found, errors and warnings, sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface LoadedSpec {
  readonly suite: Suite;
  /** Warnings only. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a spec from text. `file` names it in diagnostics, and includes are looked for beside it. Never throws for what a user wrote. */
export function parseSpec(text: string, { file = 'agentci_spec.yaml' }: { readonly file?: string } = {}): ParsedSpec {
  const problems = new Problems();
  const document = parseYaml(text, { file, tags: [INCLUDE_TAG] });
  problems.addAll(document.diagnostics);
  const root = document.root === undefined ? undefined : resolveIncludes(document.root, problems);
  let suite: Suite | undefined;
  if (root?.kind === 'map') {
    suite = isAssaySuite(root) ? readAssaySuite(root, problems) : readSuite(root, problems);
  } else if (root !== undefined && !isBroken(root)) {
    const shown = root.kind === 'seq' ? 'a list' : 'one value';
    problems.add(root, {
      code: 'SPEC_TYPE',
      message: `a spec is a map of keys, not ${shown}`,
      hint: 'start with "agent: …"',
    });
  }
  const diagnostics = problems.sorted();
  return suite === undefined ? { diagnostics } : { suite, diagnostics };
}

/** Reads a spec file. Throws `SpecError` with every problem when it cannot be used, and another `UserError` when it cannot be read. */
export async function loadSpec(path: string): Promise<LoadedSpec> {
  const { suite, diagnostics } = parseSpec(readSpecText(path), { file: path });
  if (suite === undefined) throw new SpecError(path, diagnostics);
  return { suite, diagnostics };
}

function readSpecText(path: string): string {
  const bytes = readBytes(path);
  if (bytes === undefined) throw located(path, 'YAML_TOO_LARGE', `the file is larger than ${MAX_YAML_SIZE} bytes`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw located(path, 'YAML_ENCODING', 'the file is not UTF-8 text');
  }
}

const located = (file: string, code: string, message: string): SpecError =>
  new SpecError(file, [{ severity: 'error', code, message, file, line: 1, column: 1 }]);

// One small file: reading it at once is faster than asking the thread pool.
function readBytes(path: string): Uint8Array | undefined {
  try {
    const found = statSync(path);
    // A pipe would wait for a writer; a folder or device is no spec.
    if (!found.isFile()) throw new Error('not a file');
    return found.size > MAX_YAML_SIZE ? undefined : readFileSync(path);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const isMissing = code === 'ENOENT';
    const reason = isMissing ? 'does not exist' : `cannot be read (${code ?? 'it is not a file'})`;
    throw new UserError(isMissing ? 'SPEC_NOT_FOUND' : 'SPEC_UNREADABLE', `the spec ${path} ${reason}`, {
      ...(isMissing ? { hint: 'name another with -c, or write one with "agentci init"' } : {}),
      cause,
    });
  }
}

import type { Diagnostic } from '@agentci/lib/problems';
import { parseYaml } from '@agentci/lib/yaml';
import { isAssayFile, readAssayFile } from './assay.ts';
import { DISK, type SpecFiles } from './files.ts';
import { INCLUDE_TAG, resolveIncludes } from './include.ts';
import { SpecProblems } from './problems.ts';
import type { Suite } from './suite.ts';
import { readSuite } from './suite-reader.ts';
import { isBroken } from './value-check.ts';

export interface ParsedSpec {
  /** Absent if any diagnostic is an error. */
  readonly suite?: Suite;
  /** All errors and warnings, sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses a spec. `file` is its name in diagnostics, and includes are relative to it. Never throws
 * for an error in the spec.
 */
export function parseSpec(
  text: string,
  {
    file = 'agentci_spec.yaml',
    files = DISK,
  }: { readonly file?: string; readonly files?: SpecFiles } = {},
): ParsedSpec {
  const problems = new SpecProblems();
  const document = parseYaml(text, { file, tags: [INCLUDE_TAG] });
  problems.addAll(document.diagnostics);
  const root =
    document.root === undefined ? undefined : resolveIncludes(document.root, problems, files);
  let suite: Suite | undefined;
  if (root?.kind === 'map')
    suite = isAssayFile(root)
      ? readAssayFile(root, problems, files)
      : readSuite(root, problems, files);
  else if (root !== undefined && !isBroken(root))
    problems.add(root, {
      code: 'SPEC_VALUE',
      message: `a spec is a map of keys, not ${root.kind === 'seq' ? 'a list' : 'one value'}`,
      hint: 'start with "agent: …"',
    });
  return { suite, diagnostics: problems.sorted() };
}

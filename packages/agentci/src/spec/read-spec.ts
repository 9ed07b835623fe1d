import type { Diagnostic } from '../kit/diagnostic.ts';
import { parseYaml } from '../kit/yaml.ts';
import { isExpectedSuite, specOfExpected } from './assay-expected.ts';
import { isAssaySuite, readAssaySuite } from './assay-suite.ts';
import type { Expert } from './expert.ts';
import { INCLUDE_TAG, resolveIncludes } from './include.ts';
import { SpecProblems } from './problems.ts';
import type { Suite } from './suite.ts';
import { readSuite } from './suite-reader.ts';
import { isBroken } from './value-check.ts';

export interface ParsedSpec {
  /** Absent when any diagnostic is an error. */
  readonly suite?: Suite;
  /** Everything found, errors and warnings, sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a spec from text. Throws `ExpertNeeded` where an expert has to look closer and none was given. */
export function readSpec(
  text: string,
  { file, expert }: { readonly file: string; readonly expert?: Expert },
): ParsedSpec {
  const problems = new SpecProblems(expert);
  const document = parseYaml(text, { file, tags: [INCLUDE_TAG], longList: 'queries' });
  problems.addAll(document.diagnostics);
  const root = document.root === undefined ? undefined : resolveIncludes(document.root, problems);
  let suite: Suite | undefined;
  if (root?.kind === 'map') {
    const isAssay = isAssaySuite(root);
    if (isAssay && !isExpectedSuite(root)) suite = readAssaySuite(root, problems);
    else suite = readSuite(isAssay ? specOfExpected(root, problems) : root, problems);
    if (isAssay && suite !== undefined) suite = { ...suite, sharesRecordings: true };
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

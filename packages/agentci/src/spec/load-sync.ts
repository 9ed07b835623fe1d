import { type LoadedSpec, readSpecText } from './load.ts';
import { parseSpec } from './parse-spec.ts';
import { SpecError } from './spec-error.ts';

/** `loadSpec` for callers that cannot wait: test frameworks collect their tests before anything may run. */
export function loadSpecSync(path: string): LoadedSpec {
  const { suite, diagnostics } = parseSpec(readSpecText(path), { file: path });
  if (suite === undefined) throw new SpecError(path, diagnostics);
  return { suite, diagnostics };
}

import { engine } from '../kit/cel/engine.ts';
import { provideCel } from '../kit/cel/expression.ts';
import { fullExpert } from './full-expert.ts';
import { type ParsedSpec, readSpec } from './read-spec.ts';

/** Reads a spec from text. `file` names it in diagnostics, and includes are looked for beside it. Never throws for what a user wrote. */
export function parseSpec(
  text: string,
  { file = 'agentci_spec.yaml' }: { readonly file?: string } = {},
): ParsedSpec {
  provideCel(engine);
  return readSpec(text, { file, expert: fullExpert });
}

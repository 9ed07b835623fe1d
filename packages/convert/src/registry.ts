import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import type { SourceFile } from './folder.ts';
import type { SuiteSource } from './source.ts';
import { source as adk } from './sources/adk/adk.ts';
import { source as agentciPython } from './sources/agentci-python/agentci-python.ts';
import { source as agentunit } from './sources/agentunit/agentunit.ts';
import { source as assay } from './sources/assay/assay.ts';
import { source as deepeval } from './sources/deepeval/deepeval.ts';
import { source as inspect } from './sources/inspect/inspect.ts';
import { source as langsmith } from './sources/langsmith/langsmith.ts';
import { source as openaiEvals } from './sources/openai-evals/openai-evals.ts';
import { source as openaiEvalsApi } from './sources/openai-evals-api/openai-evals-api.ts';
import { source as promptfoo } from './sources/promptfoo/promptfoo.ts';
import { source as pydanticEvals } from './sources/pydantic-evals/pydantic-evals.ts';

/** All tools with readable suites. The first that recognizes a file reads it. */
export const SOURCES: readonly SuiteSource[] = [
  promptfoo,
  deepeval,
  adk,
  langsmith,
  inspect,
  openaiEvals,
  openaiEvalsApi,
  pydanticEvals,
  assay,
  agentciPython,
  agentunit,
];

/** Finds a source by name. */
export function sourceNamed(name: string): SuiteSource {
  const found = SOURCES.find((source) => source.name === name);
  if (found !== undefined) return found;
  const names = SOURCES.map((source) => source.name);
  const near = didYouMean(name, names);
  throw new UserError('OPTION_INVALID', `--from: there is no source "${name}"`, {
    hint: near === undefined ? `there are ${names.join(', ')}` : `did you mean "${near}"?`,
  });
}

/** The tool of a file, by its content. Undefined if the file cannot be parsed. */
export function recognize(file: SourceFile): SuiteSource | undefined {
  return SOURCES.find((source) => source.recognizes(file));
}

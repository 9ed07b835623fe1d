import { didYouMean } from '../kit/did-you-mean.ts';
import { UserError } from '../kit/user-error.ts';
import type { SourceFile } from './folder.ts';
import type { SuiteSource } from './source.ts';
import { source as promptfoo } from './sources/promptfoo/promptfoo.ts';

/** Every tool whose suites can be read; the first that recognizes a file reads it. */
export const SOURCES: readonly SuiteSource[] = [promptfoo];

/** The source of a name. */
export function sourceNamed(name: string): SuiteSource {
  const found = SOURCES.find((source) => source.name === name);
  if (found !== undefined) return found;
  const names = SOURCES.map((source) => source.name);
  const near = didYouMean(name, names);
  throw new UserError('CONVERT_SOURCE', `--from: there is no source "${name}"`, {
    hint: near === undefined ? `there are ${names.join(', ')}` : `did you mean "${near}"?`,
  });
}

/** The tool that a file is of, by what is in it. A file that cannot be parsed is of none. */
export function recognize(file: SourceFile): SuiteSource | undefined {
  return SOURCES.find((source) => source.recognizes(file));
}

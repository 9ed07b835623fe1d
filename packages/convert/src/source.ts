import type { SourceFile } from './folder.ts';
import type { ConvertedSuite } from './model.ts';

/** What the user said beside the files: `--map input=inputs.question`. */
export interface SourceOptions {
  readonly map: Readonly<Record<string, string>>;
  /** The folder the spec will be written to, for paths that the spec names. */
  readonly outDir: string;
}

/** A tool whose suites can be read. A folder in `sources/` holds one. */
export interface SuiteSource {
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /**
   * Whether the file is a suite of this tool, by what it says. Files that belong to one (tests, prompts, criteria) are not
   * suites themselves.
   */
  readonly recognizes: (file: SourceFile) => boolean;
  readonly read: (file: SourceFile, options: SourceOptions) => ConvertedSuite;
}

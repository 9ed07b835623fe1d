import type { SourceFile } from './folder.ts';
import type { ConvertedSuite } from './model.ts';

/** Options of the user besides the files: `--map input=inputs.question`. */
export interface SourceOptions {
  readonly map: Readonly<Record<string, string>>;
  /** The folder of the new spec, for paths in it. */
  readonly outDir: string;
}

/** A tool with readable suites. Each is in a folder of `sources/`. */
export interface SuiteSource {
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /**
   * Whether the file is a suite of this tool, by its content. Files that belong to a suite (tests,
   * prompts, criteria) are not suites themselves.
   */
  readonly recognizes: (file: SourceFile) => boolean;
  readonly read: (file: SourceFile, options: SourceOptions) => ConvertedSuite;
}

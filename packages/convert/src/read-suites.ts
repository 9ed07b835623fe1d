import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { type SourceFile, SourceFolder } from './folder.ts';
import { type ConvertedSuite, EMPTY_SUITE, type Finding } from './model.ts';
import { recognize, SOURCES, sourceNamed } from './registry.ts';
import type { SourceOptions, SuiteSource } from './source.ts';

export interface ReadOptions extends SourceOptions {
  readonly cwd: string;
  readonly from?: string;
}

export interface ReadSuites {
  readonly suite: ConvertedSuite;
  /** The tools, such as `promptfoo`. */
  readonly from: string;
  readonly files: readonly SourceFile[];
}

/** Reads suites from files, and from all suite files in folders. */
export function readSuites(paths: readonly string[], options: ReadOptions): ReadSuites {
  const chosen = options.from === undefined ? undefined : sourceNamed(options.from);
  const found = paths.flatMap((path) => suitesAt(path, options, chosen));
  if (found.length === 0)
    throw new UserError('NOTHING_FOUND', `no suite of a known tool found in ${paths.join(', ')}`, {
      hint: `Known are ${SOURCES.map(({ name }) => name).join(', ')}; --from NAME reads a file as that.`,
    });
  let suite = EMPTY_SUITE;
  for (const { file, source, isNamed } of found)
    suite = joined(suite, readOne(source, file, options, isNamed), file);
  return {
    suite,
    from: [...new Set(found.map(({ source }) => source.name))].join(', '),
    files: found.map(({ file }) => file),
  };
}

interface Found {
  readonly file: SourceFile;
  readonly source: SuiteSource;
  /** The user named the file, not its folder. */
  readonly isNamed: boolean;
}

/**
 * An unreadable suite in a folder is listed. If the user named it, it is an error. So is a path
 * that leaves the folder.
 */
function readOne(
  source: SuiteSource,
  file: SourceFile,
  options: ReadOptions,
  isNamed: boolean,
): ConvertedSuite {
  try {
    return source.read(file, options);
  } catch (error) {
    if (isNamed || !(error instanceof UserError) || error.code === 'CONVERT_OUTSIDE') throw error;
    return {
      cases: [],
      settings: [
        { file: file.name, line: 1, type: source.name, verdict: 'none', why: error.message },
      ],
    };
  }
}

function suitesAt(
  path: string,
  { cwd }: ReadOptions,
  chosen: SuiteSource | undefined,
): readonly Found[] {
  const whole = resolve(cwd, path);
  const found = statSync(whole, { throwIfNoEntry: false });
  if (found === undefined)
    throw new UserError('CONVERT_UNREADABLE', `"${path}" does not exist`, {
      hint: 'Is the path right?',
    });
  if (!found.isDirectory()) {
    const file = new SourceFolder(dirname(whole), cwd).file(whole, `"${path}"`);
    const source = chosen ?? recognize(file);
    if (source === undefined)
      throw new UserError('OPTION_INVALID', `"${path}" is not a suite of a tool that is known`, {
        hint: `Say which with --from: ${SOURCES.map(({ name }) => name).join(', ')}.`,
      });
    return [{ file, source, isNamed: true }];
  }
  return new SourceFolder(whole, cwd).walk().flatMap((file) => {
    const source = recognizedQuietly(file, chosen);
    return source === undefined ? [] : [{ file, source, isNamed: false }];
  });
}

const SUITE_FILES = new Set(['.json', '.jsonl', '.ndjson', '.yaml', '.yml', '.csv', '.eval']);

/** Skips unreadable files of a folder, because the user only named the folder. */
function recognizedQuietly(
  file: SourceFile,
  chosen: SuiteSource | undefined,
): SuiteSource | undefined {
  if (!SUITE_FILES.has(file.extension)) return undefined;
  try {
    const source = recognize(file);
    return chosen === undefined || source === chosen ? source : undefined;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** Joins several suites. A spec has one runner, so the first runner wins. */
function joined(before: ConvertedSuite, next: ConvertedSuite, file: SourceFile): ConvertedSuite {
  const isOther =
    before.runner !== undefined &&
    next.runner !== undefined &&
    JSON.stringify([before.runner, before.matrix]) !== JSON.stringify([next.runner, next.matrix]);
  const clash: readonly Finding[] = isOther
    ? [
        {
          file: file.name,
          line: 1,
          type: 'runner',
          verdict: 'none',
          why: 'a spec has one runner: convert this file by itself',
        },
      ]
    : [];
  const runner = before.runner ?? next.runner;
  const matrix = before.runner === undefined ? next.matrix : before.matrix;
  const closeRunner = before.runner === undefined ? next.closeRunner : before.closeRunner;
  const judge = before.judge ?? next.judge;
  const agent = before.agent ?? next.agent;
  return {
    agent,
    runner,
    matrix,
    closeRunner,
    judge,
    cases: [...before.cases, ...next.cases],
    settings: [...before.settings, ...next.settings, ...clash],
  };
}

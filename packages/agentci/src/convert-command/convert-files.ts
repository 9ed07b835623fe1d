import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import {
  type ConvertReport,
  convertSuite,
  groupLeft,
  readSuites,
  SPEC_FILE,
  summaryLines,
} from '@agentci/convert';
import { makeFolder, writeFile } from '@agentci/lib/files';
import { type Diagnostic, UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { loadSpec, SpecError } from '@agentci/spec';
import { writeFiles } from '../import/write-files.ts';

export interface ConvertFlags {
  readonly from?: string;
  readonly out: string;
  readonly map?: readonly string[];
  readonly agent?: string;
  readonly lossy?: boolean;
  readonly overwrite?: boolean;
  readonly json?: boolean;
}

/** Converts suites to a spec, with a report on each assertion. */
export async function convertFiles(
  args: readonly string[],
  options: ConvertFlags,
  cwd: string,
): Promise<ConvertReport> {
  const outDir = resolve(cwd, options.out);
  const read = readSuites(args, {
    cwd,
    outDir,
    map: readMap(options.map ?? []),
    from: options.from,
  });
  const names = read.files.map(({ name }) => name);
  const shown = relative(cwd, outDir).split(sep).join('/');
  const made = await convertSuite(read.suite, {
    from: read.from,
    title:
      names.length > 3
        ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
        : names.join(', '),
    agent: options.agent ?? read.suite.agent ?? folderName(read.files[0]?.path),
    lossy: options.lossy ?? false,
    folder: shown === '' ? '' : `${shown}/`,
    validate,
  });
  const { report } = made;
  const files = new Map([...made.files].map(([name, text]) => [join(outDir, name), text]));
  try {
    writeFiles(files, { dir: cwd, overwrite: options.overwrite ?? false });
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'FILE_EXISTS') throw error;
    throw new UserError(
      'FILE_EXISTS',
      `${relative(cwd, outDir) || 'the folder'} has such files already; nothing was written`,
      {
        hint: '--overwrite writes over them, --out FOLDER writes elsewhere.',
      },
    );
  }
  return report;
}

const MAP_NAMES = ['input', 'output', 'items', 'mode', 'scorer'];

function readMap(written: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    written.map((one) => {
      const at = one.indexOf('=');
      if (at < 1)
        throw new UserError('OPTION_INVALID', `--map: "${one}" has no "="`, {
          hint: 'for example --map input=inputs.question',
        });
      const name = one.slice(0, at);
      if (!MAP_NAMES.includes(name)) {
        const near = didYouMean(name, MAP_NAMES);
        throw new UserError('OPTION_INVALID', `--map: there is no "${name}" to say`, {
          hint:
            near === undefined ? `there are ${MAP_NAMES.join(', ')}` : `did you mean "${near}"?`,
        });
      }
      return [name, one.slice(at + 1)];
    }),
  );
}

const folderName = (path: string | undefined): string =>
  path === undefined ? 'agent' : basename(dirname(path)) || 'agent';

/**
 * Loads the spec from a temporary folder as `agentci validate` does. A spec that does not validate
 * is not written.
 */
async function validate(files: ReadonlyMap<string, string>): Promise<readonly Diagnostic[]> {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-convert-'));
  try {
    for (const [name, text] of files) {
      const path = join(dir, name);
      makeFolder(dirname(path));
      writeFile(path, text);
    }
    const { diagnostics } = await loadSpec(join(dir, SPEC_FILE));
    return diagnostics;
  } catch (error) {
    if (error instanceof SpecError) return error.diagnostics;
    throw error;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const MAX_LINES = 40;

export function describe(report: ConvertReport): string {
  const left = groupLeft([...report.settings, ...report.assertions]);
  const lines = left.slice(0, MAX_LINES).map(({ text }) => `  ${text}`);
  const more =
    left.length > MAX_LINES
      ? [`  and ${left.length - MAX_LINES} more kinds in ${report.spec}'s report`]
      : [];
  return `${[...summaryLines(report), ...(lines.length === 0 ? [] : ['', 'Not carried exactly:']), ...lines, ...more, '', `Written: ${report.files.join(', ')}`].join('\n')}\n`;
}

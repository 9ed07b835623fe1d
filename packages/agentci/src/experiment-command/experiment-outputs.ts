import { basename, extname, resolve } from 'node:path';
import {
  renderConsole,
  renderCsv,
  renderFigure,
  renderHtml,
  renderLatex,
  renderMarkdown,
  renderTrialsCsv,
} from '@agentci/lab/experiment';
import { writeFileAtomic } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import type { ExperimentResult } from '@agentci/results';
import type { Io } from '../cli/io.ts';

const FORMATS: Readonly<
  Record<
    string,
    { readonly ending?: string; readonly render: (result: ExperimentResult) => string }
  >
> = {
  console: { render: renderConsole },
  json: { ending: '.json', render: (result) => `${JSON.stringify(result, null, 2)}\n` },
  csv: { ending: '.csv', render: renderCsv },
  trials: { render: renderTrialsCsv },
  markdown: { ending: '.md', render: renderMarkdown },
  html: { ending: '.html', render: renderHtml },
  svg: { ending: '.svg', render: renderFigure },
  latex: { ending: '.tex', render: renderLatex },
};

export const EXPERIMENT_FORMATS = Object.keys(FORMATS).join(', ');

interface Output {
  readonly format: string;
  /** Undefined means stdout. */
  readonly file?: string;
}

/** Parses `-f name[=file]` and `-o FILE`. Only one document can go to stdout. */
export function planOutputs(
  { formats, files }: { readonly formats: readonly string[]; readonly files: readonly string[] },
  cwd: string,
): Output[] {
  const outputs: Output[] = formats.map((written) => {
    const [name = '', ...rest] = written.split('=');
    return rest.length === 0
      ? { format: known(name) }
      : { format: known(name), file: resolve(cwd, rest.join('=')) };
  });
  for (const file of files) outputs.push({ format: formatFor(file), file: resolve(cwd, file) });
  if (formats.length === 0) outputs.unshift({ format: 'console' });
  const [first, second] = outputs.filter(({ file }) => file === undefined);
  if (second !== undefined) {
    throw new UserError(
      'OPTIONS_CONFLICT',
      `${first!.format} and ${second.format} cannot both go to stdout`,
      {
        hint: `Send one to a file: -f ${second.format}=FILE`,
      },
    );
  }
  return outputs;
}

export function writeOutputs(result: ExperimentResult, outputs: readonly Output[], io: Io): void {
  for (const { format, file } of outputs) {
    const text = FORMATS[format]!.render(result);
    if (file === undefined) io.stdout.write(text);
    else writeFileAtomic(file, text);
  }
}

function known(name: string): string {
  if (Object.hasOwn(FORMATS, name)) return name;
  const near = didYouMean(name, Object.keys(FORMATS));
  throw new UserError('OPTION_INVALID', `experiments have no format "${name}"`, {
    hint: near ? `Did you mean "${near}"?` : `The formats are: ${EXPERIMENT_FORMATS}`,
  });
}

function formatFor(file: string): string {
  // Both formats are CSV, so the file name decides.
  if (/(?:^|[-_.])trials\.csv$/i.test(basename(file))) return 'trials';
  const ending = extname(file).toLowerCase();
  const found = Object.entries(FORMATS).find(([, format]) => format.ending === ending);
  if (found !== undefined) return found[0];
  throw new UserError('OPTION_INVALID', `no format is known for "${file}"`, {
    hint: `End it in .json, .csv, .md, .html, .svg or .tex, or write -f NAME=${file}`,
  });
}

import { present } from '@agentci/lib/data';
import { type Diagnostic, formatDiagnostic, UserError } from '@agentci/lib/problems';
import { escapeTerminal } from '@agentci/lib/text';
import { casesText } from '@agentci/results';
import { countChecks, loadSpec, SpecError } from '@agentci/spec';
import { specPath } from '../../stored-runs/spec-folders.ts';
import type { CliCommand } from '../cli-command.ts';
import { annotation } from '../user-error-text.ts';

interface FileReport {
  readonly file: string;
  readonly valid: boolean;
  readonly readable: boolean;
  readonly queries?: number;
  /** The number of queries for people: with a matrix, each query counts once. */
  readonly cases?: string;
  readonly checks?: number;
  readonly agent?: string;
  readonly diagnostics: readonly Diagnostic[];
}

export const command: CliCommand = {
  name: 'validate',
  summary: 'check a spec and list every error with its line',
  configure: (parser) =>
    parser
      .argument('[spec...]', 'spec files', ['agentci_spec.yaml'])
      .option('-c, --config <file>', 'the spec, as for the other commands')
      .option('--json', 'print the findings as JSON')
      .addHelpText(
        'after',
        `
Reads the spec and everything it includes. Never loads a runner or a module.
Exit: 0 valid (warnings allowed), 1 invalid, 2 the file could not be read.

Example:
  agentci validate agentci_spec.yaml specs/*.yaml`,
      ),
  run: async ({ args, options, io }) => {
    const named = present([
      typeof options.config === 'string' ? options.config : undefined,
      ...args,
    ]);
    const files = named.length > 0 ? named : ['agentci_spec.yaml'];
    const reports: FileReport[] = [];
    for (const file of files) reports.push(await check(specPath(file, io.cwd)));
    if (options.json) {
      io.stdout.write(
        `${JSON.stringify({ schema: 'agentci.validate/1', files: reports.map(({ cases: _, ...report }) => report) }, null, 2)}\n`,
      );
    } else {
      for (const report of reports) io.stdout.write(`${escapeTerminal(render(report))}\n`);
      if (io.env.GITHUB_ACTIONS === 'true') {
        for (const diagnostic of reports.flatMap((report) => report.diagnostics))
          io.stderr.write(`${annotation(diagnostic)}\n`);
      }
    }
    if (reports.some((report) => !report.readable)) return 2;
    return reports.every((report) => report.valid) ? 0 : 1;
  },
};

async function check(file: string): Promise<FileReport> {
  try {
    const { suite, diagnostics } = await loadSpec(file);
    return {
      file,
      valid: true,
      readable: true,
      agent: suite.agent,
      queries: suite.queries.length,
      cases: casesText(suite.queries),
      checks: countChecks(suite),
      diagnostics,
    };
  } catch (error) {
    if (error instanceof SpecError)
      return { file, valid: false, readable: true, diagnostics: error.diagnostics };
    if (!(error instanceof UserError)) throw error;
    const diagnostic: Diagnostic = {
      severity: 'error',
      code: error.code,
      message: error.message,
      file,
      line: 1,
      column: 1,
      hint: error.hint,
    };
    return { file, valid: false, readable: false, diagnostics: [diagnostic] };
  }
}

function render({ file, valid, agent, cases, checks, diagnostics }: FileReport): string {
  const lines = diagnostics.map(formatDiagnostic);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const warned = warnings === 0 ? '' : `, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
  lines.push(
    valid
      ? `✓ ${file}: valid, agent "${agent}", ${cases}, ${checks} ${checks === 1 ? 'check' : 'checks'}${warned}`
      : `✗ ${file}: ${errors} ${errors === 1 ? 'error' : 'errors'}${warned}`,
  );
  return lines.join('\n');
}

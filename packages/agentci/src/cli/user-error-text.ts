import { present } from '@agentci/lib/data';
import type { Diagnostic, UserError } from '@agentci/lib/problems';
import { formatDiagnostic } from '@agentci/lib/problems';
import {
  escapeTerminal,
  escapeWorkflowCommandData,
  escapeWorkflowCommandProperty,
} from '@agentci/lib/text';

/** A user's mistake as it is printed: every diagnostic, the message with its code, the way out. */
export function userErrorText(
  error: UserError,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const diagnostics = error.diagnostics.flatMap((diagnostic) =>
    present([
      escapeTerminal(formatDiagnostic(diagnostic)),
      env.GITHUB_ACTIONS === 'true' ? annotation(diagnostic) : undefined,
    ]),
  );
  // The message of a spec error repeats its diagnostics for library users; here they are above already.
  const message = error.diagnostics.length > 0 ? error.message.split('\n', 1)[0]! : error.message;
  const hint = error.hint === undefined ? [] : [`  hint: ${escapeTerminal(error.hint)}`];
  return [...diagnostics, `agentci: ${escapeTerminal(message)} [${error.code}]`, ...hint]
    .map((line) => `${line}\n`)
    .join('');
}

/** A diagnostic as a workflow command. For stderr, which GitHub reads too: stdout may be a document. */
export function annotation({ severity, file, line, column, code, message }: Diagnostic): string {
  const place = `file=${escapeWorkflowCommandProperty(file)},line=${line},col=${column},title=${escapeWorkflowCommandProperty(code)}`;
  return `::${severity} ${place}::${escapeWorkflowCommandData(message)}`;
}

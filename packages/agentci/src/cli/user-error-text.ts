import { present } from '@agentci/lib/data';
import type { Diagnostic, UserError } from '@agentci/lib/problems';
import { formatDiagnostic } from '@agentci/lib/problems';
import {
  escapeTerminal,
  escapeWorkflowCommandData,
  escapeWorkflowCommandProperty,
} from '@agentci/lib/text';

/** Prints a user's mistake: all diagnostics, the message with its code, and the hint. */
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
  // The message of a spec error repeats its diagnostics for library users. Here they are already
  // printed above.
  const message = error.diagnostics.length > 0 ? error.message.split('\n', 1)[0]! : error.message;
  const hint = error.hint === undefined ? [] : [`  hint: ${escapeTerminal(error.hint)}`];
  return [...diagnostics, `agentci: ${escapeTerminal(message)} [${error.code}]`, ...hint]
    .map((line) => `${line}\n`)
    .join('');
}

/**
 * A diagnostic as a GitHub workflow command. It goes to stderr, which GitHub reads too, because
 * stdout may be a document.
 */
export function annotation({ severity, file, line, column, code, message }: Diagnostic): string {
  const place = `file=${escapeWorkflowCommandProperty(file)},line=${line},col=${column},title=${escapeWorkflowCommandProperty(code)}`;
  return `::${severity} ${place}::${escapeWorkflowCommandData(message)}`;
}

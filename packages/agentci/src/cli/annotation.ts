import type { Diagnostic } from '@agentci/lib/problems';
import { escapeWorkflowCommandData, escapeWorkflowCommandProperty } from '@agentci/lib/text';

/** A diagnostic as a workflow command. For stderr, which GitHub reads too: stdout may be a document. */
export function annotation({ severity, file, line, column, code, message }: Diagnostic): string {
  const place = `file=${escapeWorkflowCommandProperty(file)},line=${line},col=${column},title=${escapeWorkflowCommandProperty(code)}`;
  return `::${severity} ${place}::${escapeWorkflowCommandData(message)}`;
}

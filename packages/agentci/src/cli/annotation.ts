import type { Diagnostic } from '../kit/diagnostic.ts';
import { escapeWorkflowCommandData, escapeWorkflowCommandProperty } from '../kit/escape.ts';

/** A diagnostic as a workflow command. For stderr, which GitHub reads too: stdout may be a document. */
export function annotation({ severity, file, line, column, code, message }: Diagnostic): string {
  const place = `file=${escapeWorkflowCommandProperty(file)},line=${line},col=${column},title=${escapeWorkflowCommandProperty(code)}`;
  return `::${severity} ${place}::${escapeWorkflowCommandData(message)}`;
}

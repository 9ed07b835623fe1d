import { UserError } from '@agentci/lib/problems';

/** One thing wrong with a trace someone wrote: a stable code, the path inside the record, and a sentence. */
export interface TraceIssue {
  readonly code: string;
  readonly message: string;
  /** Where inside the record, e.g. `tool_calls[2].name`; empty for the record itself. */
  readonly path: string;
}

/** A value that is not a trace, with the path of the field at fault. */
export class TraceError extends UserError {
  readonly path: string;

  constructor(issue: TraceIssue, options: { hint?: string } = {}) {
    super(issue.code, issue.message, options);
    this.name = 'TraceError';
    this.path = issue.path;
  }
}

import { UserError } from '@agentci/lib/problems';

/** One problem of a hand-written trace: a stable code, the path in the record, and a sentence. */
export interface TraceIssue {
  readonly code: string;
  readonly message: string;
  /** Path inside the record, such as `tool_calls[2].name`. Empty for the record itself. */
  readonly path: string;
}

/** A value that is not a trace, with the path of the bad field. */
export class TraceError extends UserError {
  readonly path: string;

  constructor(issue: TraceIssue, options: { hint?: string } = {}) {
    super(issue.code, issue.message, options);
    this.name = 'TraceError';
    this.path = issue.path;
  }
}

import type { Diagnostic } from './diagnostic.ts';

/**
 * Something the user can put right: a bad file, a missing runner, nothing selected.
 * Only `cli/main.ts` turns it into text and exit code 2; anything else thrown is our bug and keeps its stack.
 */
export class UserError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly diagnostics: readonly Diagnostic[];

  constructor(
    code: string,
    message: string,
    options: { hint?: string; diagnostics?: readonly Diagnostic[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UserError';
    this.code = code;
    this.hint = options.hint;
    this.diagnostics = options.diagnostics ?? [];
  }
}

import type { Diagnostic } from './diagnostic.ts';

const MARK = Symbol.for('agentci.user-error');

/**
 * An error that the user can fix: a bad file, a missing runner, nothing selected. Only
 * `cli/main.ts` turns it into text and exit code 2. Anything else that is thrown is our bug and
 * keeps its stack.
 */
export class UserError extends Error {
  /**
   * Works across bundles: an error thrown by a user's module through the library is a user error in
   * the CLI too.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === UserError
      ? value instanceof Error && MARK in value
      : Function.prototype[Symbol.hasInstance].call(this, value);
  }

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
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
    this.hint = options.hint;
    this.diagnostics = options.diagnostics ?? [];
  }
}

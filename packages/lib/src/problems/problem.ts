/**
 * A problem in user input: a spec, a policy, a parameter. It has a path inside the value. The code
 * that knows the text turns it into a located `Diagnostic`.
 */
export interface Problem {
  /** Default: error. */
  readonly severity?: 'error' | 'warning' | undefined;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /**
   * Path inside the value, such as `[0]` for the first item of a list. Default: the value itself.
   */
  readonly path?: readonly (string | number)[];
  /** Whether the key or the value is wrong. Default: the value. */
  readonly part?: 'key' | 'value' | undefined;
  /** Character offset in the text. Default: its start. */
  readonly offset?: number | undefined;
}

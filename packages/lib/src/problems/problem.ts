/**
 * Something wrong with what a person wrote: in a spec, a policy, a parameter. What finds it says where inside the value;
 * whoever knows the text adds the place and makes a `Diagnostic` of it.
 */
export interface Problem {
  /** An error unless said. */
  readonly severity?: 'error' | 'warning' | undefined;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Where inside the value, e.g. `[0]` for the first item of a list; the value itself unless said. */
  readonly path?: readonly (string | number)[];
  /** Whether the key or the value at the path is at fault; the value unless said. */
  readonly part?: 'key' | 'value' | undefined;
  /** At which character of the text at the path; its beginning unless said. */
  readonly offset?: number | undefined;
}

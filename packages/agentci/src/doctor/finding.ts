/** Result of one check. `fix` says how to solve the problem. */
export interface Finding {
  readonly what: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix?: string;
}

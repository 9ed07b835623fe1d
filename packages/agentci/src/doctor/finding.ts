/** One thing that was looked at. `fix` says what to do about it. */
export interface Finding {
  readonly what: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix?: string;
}

/** A failed call. `infra`: worth a retry. */
export class ModelError extends Error {
  readonly kind: 'infra' | 'provider' | 'interrupted';
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ModelError['kind'],
    message: string,
    options: { retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.name = 'ModelError';
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}

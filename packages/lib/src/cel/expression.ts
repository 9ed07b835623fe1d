/** A value that was not captured. Whoever touches it cannot tell; logic that does not need it still can. */
export class NotCaptured extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'NotCaptured';
  }
}

export type CelType = 'string' | 'bool' | 'int' | 'double' | 'list' | 'map' | 'dyn';

/** A map whose fields are known, or a list of such maps: another field is a mistake. */
export type CelRecord =
  | {
      readonly fields: readonly string[];
      /** Those of its fields that are lists of maps, with the fields of these. */
      readonly lists?: Readonly<Record<string, readonly string[]>>;
    }
  | { readonly items: readonly string[] };

/** Names an expression may use, with their types. */
export type CelVariables = Readonly<Record<string, CelType | CelRecord>>;

export interface CelProblem {
  readonly message: string;
  /** The character it is at. */
  readonly offset: number;
}

/** What an expression came to. `unknown`: it needed what was not captured. */
export type CelResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'unknown'; readonly what: string }
  | { readonly kind: 'error'; readonly message: string };

export interface CelProgram {
  /** What it looks at: `answer`, `call.error`; a field of anything but a variable is `.error`. */
  readonly paths: ReadonlySet<string>;
  /** Variables as own properties; a getter that throws `NotCaptured` is a value that was not captured. */
  readonly run: (values: Readonly<Record<string, unknown>>) => CelResult;
}

export type CelCompiled =
  | { readonly ok: true; readonly program: CelProgram }
  | { readonly ok: false; readonly problem: CelProblem };

/** The longest expression that is read. */
export const MAX_EXPRESSION = 10_000;

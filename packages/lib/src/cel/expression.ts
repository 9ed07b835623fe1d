/**
 * A value that was not captured. Reading it is "could not tell", but logic that does not need it
 * still works.
 */
export class NotCaptured extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'NotCaptured';
  }
}

export type CelType = 'string' | 'bool' | 'int' | 'double' | 'list' | 'map' | 'dyn';

/** A map with known fields, or a list of such maps. Any other field is an error. */
export type CelRecord =
  | {
      readonly fields: readonly string[];
      /** Its list fields, with the fields of their items. */
      readonly lists?: Readonly<Record<string, readonly string[]>>;
    }
  | { readonly items: readonly string[] };

/** Names an expression may use, with their types. */
export type CelVariables = Readonly<Record<string, CelType | CelRecord>>;

export interface CelProblem {
  readonly message: string;
  /** Character offset. */
  readonly offset: number;
}

/** The result of an expression. `unknown`: it needed data that was not captured. */
export type CelResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'unknown'; readonly what: string }
  | { readonly kind: 'error'; readonly message: string };

export interface CelProgram {
  /** Fields it reads: `answer`, `call.error`. A field of anything but a variable is `.error`. */
  readonly paths: ReadonlySet<string>;
  /**
   * Variables as own properties. A getter that throws `NotCaptured` is a value that was not
   * captured.
   */
  readonly run: (values: Readonly<Record<string, unknown>>) => CelResult;
}

export type CelCompiled =
  | { readonly ok: true; readonly program: CelProgram }
  | { readonly ok: false; readonly problem: CelProblem };

/** Maximum length of an expression. */
export const MAX_EXPRESSION = 10_000;

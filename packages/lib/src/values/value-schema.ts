// Not zod/mini: about 365 of these 730 lines would remain as adapters (messages, union branches, JSON Schema), 840 calls would
// get longer, and loading it takes 11 ms.
/**
 * Schemas of user input as plain data. `valueIssues` lists problems of a value, and `jsonSchemaOf`
 * generates JSON Schema for editors.
 */
export type ValueDef =
  | {
      readonly kind: 'string';
      readonly min?: number;
      readonly max?: number;
      readonly patterns: readonly { readonly pattern: RegExp; readonly message?: string }[];
      /** The message if the value is not text. */
      readonly error?: string;
    }
  | {
      readonly kind: 'number';
      readonly integer?: boolean;
      readonly min?: number;
      readonly max?: number;
      readonly above?: number;
    }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'enum'; readonly values: readonly Literal[] }
  | {
      readonly kind: 'array';
      readonly item: ValueSchema;
      readonly min?: number;
      readonly max?: number;
    }
  | { readonly kind: 'tuple'; readonly items: readonly ValueSchema[] }
  | {
      readonly kind: 'object';
      readonly shape: ValueShape;
      /** The values of other keys. False allows no other keys. */
      readonly others: ValueSchema | boolean;
    }
  | { readonly kind: 'record'; readonly key: ValueSchema<string>; readonly value: ValueSchema }
  | { readonly kind: 'union'; readonly options: readonly ValueSchema[] }
  | { readonly kind: 'optional' | 'nullable'; readonly inner: ValueSchema }
  | { readonly kind: 'default'; readonly inner: ValueSchema; readonly value: unknown }
  | { readonly kind: 'refined'; readonly inner: ValueSchema; readonly refinement: Refinement }
  | {
      readonly kind: 'when';
      readonly applies: (value: unknown) => boolean;
      readonly inner: ValueSchema;
    };

type Literal = string | number | boolean | null;
export type ValueShape = Readonly<Record<string, ValueSchema>>;

/** A condition beyond types, with its message and diagnostic code. */
export interface Refinement {
  readonly holds: (value: never) => boolean;
  readonly message: string | ((value: never) => string);
  readonly code?: string;
}

/** For editors and docs only. */
export interface Notes {
  readonly description?: string;
  /** Under this name a JSON Schema defines it once and references it elsewhere. */
  readonly id?: string;
  /** Keywords to add to the JSON Schema if it cannot express a refinement. */
  readonly keywords?: Readonly<Record<string, unknown>>;
}

/** A schema of values of type `T`, a type parameter for the compiler only. */
export class ValueSchema<out T = unknown, D extends ValueDef = ValueDef> {
  declare readonly type: T;
  readonly def: D;
  readonly notes: Notes;

  constructor(def: D, notes: Notes = {}) {
    this.def = def;
    this.notes = notes;
  }

  named(id: string): this {
    return this.#noted({ id });
  }

  describe(description: string): this {
    return this.#noted({ description });
  }

  keywords(keywords: Readonly<Record<string, unknown>>): this {
    return this.#noted({ keywords: { ...this.notes.keywords, ...keywords } });
  }

  optional(): OptionalSchema<T> {
    return new OptionalSchema({ kind: 'optional', inner: this });
  }

  /** An optional key with a default. */
  default(value: T): ValueSchema<T> {
    return new ValueSchema({ kind: 'default', inner: this, value });
  }

  nullable(): ValueSchema<T | null> {
    return new ValueSchema({ kind: 'nullable', inner: this });
  }

  refine(
    holds: (value: T) => boolean,
    otherwise: { readonly message: string | ((value: T) => string); readonly code?: string },
  ): ValueSchema<T> {
    return new ValueSchema({ kind: 'refined', inner: this, refinement: { holds, ...otherwise } });
  }

  protected with(change: Partial<D>): this {
    return this.#copy({ ...this.def, ...change }, this.notes);
  }

  #noted(notes: Notes): this {
    return this.#copy(this.def, { ...this.notes, ...notes });
  }

  #copy(def: D, notes: Notes): this {
    return new (this.constructor as new (def: D, notes: Notes) => this)(def, notes);
  }
}

export class StringSchema extends ValueSchema<string, ValueDef & { kind: 'string' }> {
  min(min: number): this {
    return this.with({ min });
  }

  max(max: number): this {
    return this.with({ max });
  }

  regex(pattern: RegExp, message?: string): this {
    const patterns = [...this.def.patterns, { pattern, message }];
    return this.with({ patterns });
  }
}

export class NumberSchema extends ValueSchema<number, ValueDef & { kind: 'number' }> {
  int(): this {
    return this.with({ integer: true });
  }

  min(min: number): this {
    return this.with({ min });
  }

  max(max: number): this {
    return this.with({ max });
  }

  positive(): this {
    return this.with({ above: 0 });
  }
}

export class ArraySchema<T> extends ValueSchema<T[], ValueDef & { kind: 'array' }> {
  min(min: number): this {
    return this.with({ min });
  }

  max(max: number): this {
    return this.with({ max });
  }
}

export class ObjectSchema<S extends ValueShape, Extra = unknown> extends ValueSchema<
  ShapeType<S> & Extra,
  ValueDef & { kind: 'object' }
> {
  get shape(): S {
    return this.def.shape as S;
  }
}

/** An optional key. */
export class OptionalSchema<T> extends ValueSchema<
  T | undefined,
  ValueDef & { kind: 'optional' | 'nullable' }
> {
  declare readonly isOptional: true;
}

/** The type of the values a schema accepts. */
export type Infer<S extends ValueSchema> = S['type'];

type ShapeType<S extends ValueShape> = Flat<
  { [K in keyof S as S[K] extends { isOptional: true } ? never : K]: Infer<S[K]> } & {
    [K in keyof S as S[K] extends { isOptional: true } ? K : never]?: Infer<S[K]>;
  }
>;
type Flat<T> = { [K in keyof T]: T[K] };

/** All schema kinds. */
export const v = {
  string: (error?: string): StringSchema =>
    new StringSchema({ kind: 'string', patterns: [], error }),
  number: (): NumberSchema => new NumberSchema({ kind: 'number' }),
  int: (): NumberSchema => new NumberSchema({ kind: 'number', integer: true }),
  boolean: (): ValueSchema<boolean> => new ValueSchema({ kind: 'boolean' }),
  unknown: (): ValueSchema => new ValueSchema({ kind: 'unknown' }),
  literal: <const L extends Literal>(value: L): ValueSchema<L> =>
    new ValueSchema({ kind: 'enum', values: [value] }),
  enum: <const L extends readonly [string, ...string[]]>(values: L): ValueSchema<L[number]> =>
    new ValueSchema({ kind: 'enum', values }),
  null: (): ValueSchema<null> => new ValueSchema({ kind: 'enum', values: [null] }),
  array: <T>(item: ValueSchema<T>): ArraySchema<T> => new ArraySchema({ kind: 'array', item }),
  strictObject: <S extends ValueShape>(shape: S): ObjectSchema<S> =>
    new ObjectSchema({ kind: 'object', shape, others: false }),
  looseObject: <S extends ValueShape>(shape: S): ObjectSchema<S, Record<string, unknown>> =>
    new ObjectSchema({ kind: 'object', shape, others: true }),
  /** A map with these optional keys, and other keys with values of one kind. */
  objectOf: (shape: ValueShape, others: ValueSchema): ValueSchema =>
    new ValueSchema({ kind: 'object', shape, others }),
  tuple: <const U extends readonly ValueSchema[]>(
    items: U,
  ): ValueSchema<{ -readonly [K in keyof U]: Infer<U[K]> }> =>
    new ValueSchema({ kind: 'tuple', items }),
  record: <T>(key: ValueSchema<string>, value: ValueSchema<T>): ValueSchema<Record<string, T>> =>
    new ValueSchema({ kind: 'record', key, value }),
  union: <const U extends readonly ValueSchema[]>(options: U): ValueSchema<Infer<U[number]>> =>
    new ValueSchema({ kind: 'union', options }),
  /** Any value, checked against this schema if it applies. */
  when: (applies: (value: unknown) => boolean, inner: ValueSchema): ValueSchema =>
    new ValueSchema({ kind: 'when', applies, inner }),
} as const;

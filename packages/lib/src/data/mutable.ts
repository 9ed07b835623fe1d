/** A mutable version of a readonly type, for building a value. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A readonly type while a value of it is put together. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export { defined } from './defined.ts';
export { canonicalJson, sha256Hex } from './hash.ts';
export { present } from './list.ts';
export type { Mutable } from './mutable.ts';
export { hasValues, isObject, valueIn } from './object.ts';
export { shortHash } from './short-hash.ts';

export { defined, present } from './defined.ts';
export { canonicalJson, sha256Hex } from './hash.ts';
export type { Mutable } from './mutable.ts';
export { hasValues, isObject, valueIn } from './object.ts';
export { shortHash } from './short-hash.ts';

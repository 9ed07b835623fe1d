import { canonicalJson, isObject } from '@agentci/lib/data';

type Body = Readonly<Record<string, unknown>>;

/** A request as the difference from an earlier one of the same cassette. */
export interface RequestDelta {
  /** `i` of the earlier exchange. */
  readonly base: number;
  /** Lists with the first items of the earlier request, followed by these. */
  readonly append?: Readonly<
    Record<string, { readonly keep: number; readonly add: readonly unknown[] }>
  >;
  /** Changed fields. */
  readonly set?: Body;
  /** Removed fields. */
  readonly unset?: readonly string[];
}

/** Number of earlier requests to compare with. Agents rarely have more parallel conversations. */
const MAX_LOOK_BACK = 32;

interface Earlier {
  readonly i: number;
  readonly body: Body;
  /** The items of its lists, serialized once. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
}

/** Finds for each request the earlier one with the smallest difference. Takes requests in order. */
export class DeltaWriter {
  readonly #earlier: Earlier[] = [];

  /** The delta, or undefined if the whole body is shorter. */
  write(i: number, body: unknown): RequestDelta | undefined {
    if (!isObject(body)) return undefined;
    const lists = new Map(
      Object.entries(body).flatMap(([key, value]) =>
        Array.isArray(value) ? [[key, value.map((item) => canonicalJson(item))] as const] : [],
      ),
    );
    const own: Earlier = { i, body, lists };
    let best: { readonly delta: RequestDelta; readonly size: number } | undefined;
    for (const earlier of this.#earlier.slice(-MAX_LOOK_BACK).toReversed()) {
      const delta = deltaOf(earlier, own);
      const size = JSON.stringify(delta).length;
      if (best === undefined || size < best.size) best = { delta, size };
    }
    this.#earlier.push(own);
    if (best === undefined) return undefined;
    const whole = JSON.stringify(body).length;
    // A request that does not continue another is more readable as a whole, unless little of it is
    // new.
    return best.size < (best.delta.append === undefined ? whole / 3 : whole)
      ? best.delta
      : undefined;
  }
}

function deltaOf(earlier: Earlier, own: Earlier): RequestDelta {
  const append: Record<string, { keep: number; add: unknown[] }> = {};
  const set: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(own.body)) {
    const mine = own.lists.get(key);
    const before = earlier.lists.get(key);
    if (mine !== undefined && before !== undefined) {
      let keep = 0;
      while (keep < mine.length && keep < before.length && mine[keep] === before[keep]) keep++;
      if (keep === mine.length && keep === before.length) continue;
      if (keep > 0) {
        setOwn(append, key, { keep, add: (value as unknown[]).slice(keep) });
        continue;
      }
    }
    if (
      !Object.hasOwn(earlier.body, key) ||
      canonicalJson(earlier.body[key]) !== canonicalJson(value)
    )
      setOwn(set, key, value);
  }
  const unset = Object.keys(earlier.body).filter((key) => !Object.hasOwn(own.body, key));
  return {
    base: earlier.i,
    append: Object.keys(append).length !== 0 ? append : undefined,
    set: Object.keys(set).length !== 0 ? set : undefined,
    unset: unset.length !== 0 ? unset : undefined,
  };
}

/** A field may have any name, even `__proto__`. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** Restores a request from its delta. Undefined if it does not fit the earlier one. */
export function applyDelta(delta: RequestDelta, base: unknown): unknown {
  if (!isObject(base)) return undefined;
  const { set = {}, unset = [], append = {} } = delta;
  // A full copy also keeps a field named `__proto__`.
  const body: Record<string, unknown> = { ...base, ...set };
  for (const key of unset) if (!Object.hasOwn(set, key)) delete body[key];
  for (const key of Object.keys(append)) {
    const { keep, add } = append[key]!;
    const list = Object.hasOwn(base, key) ? base[key] : undefined;
    if (!Array.isArray(list) || keep > list.length) return undefined;
    setOwn(body, key, [...list.slice(0, keep), ...add]);
  }
  return body;
}

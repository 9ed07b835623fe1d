import type { Block, BlockValue, Carried, ConvertedCase, Finding, Layer } from './model.ts';

/** One value of a layer's block with its assertion. */
export interface Owned<T> {
  readonly value: T;
  readonly owner: Carried;
}

/**
 * A layer in its written form: simple keys, keys with lists of several assertions, and blocks under
 * `all`.
 */
export interface LayerLayout {
  readonly layer: Layer;
  readonly keys: ReadonlyMap<string, Owned<BlockValue>>;
  readonly lists: ReadonlyMap<string, readonly Owned<BlockValue>[]>;
  readonly all: readonly Owned<Block>[];
  /** Path and cost warn by default. Written if the source fails a case for it. */
  readonly severity?: 'fail';
}

export interface CaseLayout {
  readonly source: ConvertedCase;
  readonly id: string;
  readonly layers: readonly LayerLayout[];
  readonly turns: readonly { readonly turn: number; readonly layers: readonly LayerLayout[] }[];
  /** Assertions that were left out. */
  readonly left: readonly Finding[];
  readonly skip?: string;
}

const LAYERS: readonly Layer[] = ['correctness', 'path', 'cost'];
/** Keys whose lists can be joined. */
const LISTS = new Set(['llm_judge', 'expr']);

/** Whether an assertion is written. Close ones must be requested. */
export const isWritten = ({ finding, parts, isPolicy }: Carried, lossy: boolean): boolean =>
  (parts.length > 0 || isPolicy === true) &&
  (finding.verdict === 'exact' || (finding.verdict === 'close' && lossy));

/**
 * Decides which parts of a case are written, and their places. A case without a check is skipped,
 * because it must not count as passed.
 */
export function layOut(source: ConvertedCase, id: string, lossy: boolean): CaseLayout {
  const everything = [...source.carried, ...(source.turns ?? []).flatMap(({ carried }) => carried)];
  const left = everything.filter((one) => !isWritten(one, lossy)).map(({ finding }) => finding);
  const layers = layersFor(source.carried, lossy);
  const turns = (source.turns ?? []).flatMap(({ turn, carried }) => {
    const own = layersFor(carried, lossy);
    return own.length === 0 ? [] : [{ turn, layers: own }];
  });
  const skip = source.skip ?? (isChecked(source, layers, turns) ? undefined : nothingCarried(left));
  return { source, id, layers, turns, left, skip };
}

const isChecked = (
  source: ConvertedCase,
  layers: readonly unknown[],
  turns: readonly unknown[],
): boolean => layers.length + turns.length > 0 || source.policy !== undefined;

function nothingCarried(left: readonly Finding[]): string {
  const [first] = left;
  if (first === undefined) return 'nothing to convert: the source checks nothing here';
  const types = [...new Set(left.map(({ type }) => type))].slice(0, 5).join(', ');
  const closeOnly = left.every(({ verdict }) => verdict === 'close');
  return `nothing was carried over: ${types}${closeOnly ? ' (close: see --lossy)' : ''}`;
}

function layersFor(carried: readonly Carried[], lossy: boolean): readonly LayerLayout[] {
  const written = carried.filter((one) => isWritten(one, lossy));
  return LAYERS.flatMap((layer) => {
    const parts = written.flatMap((owner) =>
      owner.parts.flatMap((part) => (part.layer === layer ? [{ part, owner }] : [])),
    );
    if (parts.length === 0) return [];
    const keys = new Map<string, Owned<BlockValue>>();
    const lists = new Map<string, Owned<BlockValue>[]>();
    const all: Owned<Block>[] = [];
    const onlyWarns =
      layer !== 'correctness' && parts.every(({ part }) => part.block.severity === 'warn');
    for (const { part, owner } of parts) {
      const block = onlyWarns ? withoutSeverity(part.block) : part.block;
      const names = Object.keys(block);
      const [only] = names;
      if (names.length === 1 && LISTS.has(only!)) {
        const value = block[only!]!;
        const values = lists.get(only!) ?? [];
        for (const item of Array.isArray(value) ? value : [value])
          values.push({ value: item as BlockValue, owner });
        lists.set(only!, values);
      } else if (
        names.some(
          (name) => name === 'severity' || name === 'all' || keys.has(name) || lists.has(name),
        )
      )
        all.push({ value: block, owner });
      else for (const name of names) keys.set(name, { value: block[name]!, owner });
    }
    const severity = onlyWarns || layer === 'correctness' ? {} : { severity: 'fail' as const };
    return [{ layer, keys, lists, all, ...severity }];
  });
}

function withoutSeverity({ severity: _, ...rest }: Block): Block {
  return rest;
}

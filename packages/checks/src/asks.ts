import type { Layer } from '@agentci/results';
import { type AnyCheck, type Ask, isCheck, isOfLayer } from './check.ts';
import { CHECKS } from './index.gen.ts';
import { JUDGED } from './judged.ts';

type Block = Readonly<Record<string, unknown>>;

/** An external question, with the key of the layer block that needs it. */
export interface RootedAsk extends Ask {
  readonly layer: Layer;
  readonly root: string;
}

const NONE: readonly RootedAsk[] = [];
const ASKING: readonly AnyCheck[] = CHECKS.filter(isCheck).filter(({ asks }) => asks !== undefined);
const COMBINING: readonly AnyCheck[] = CHECKS.filter(isCheck).filter(
  ({ blocks }) => blocks !== undefined,
);

const KEYS: ReadonlySet<string> = new Set([...ASKING, ...COMBINING].map(({ key }) => key));

/**
 * External questions of a layer block, including combinators. Rubrics outside of combinators are
 * excluded.
 */
export function asksIn(layer: Layer, block: Block | undefined): readonly RootedAsk[] {
  if (block === undefined) return NONE;
  // Fast path: this runs for every block of every query, and few have such a key.
  for (const key in block) if (KEYS.has(key)) return collect(layer, block, undefined);
  return NONE;
}

function collect(layer: Layer, block: Block, root: string | undefined): RootedAsk[] {
  const asking = root === undefined ? ASKING : [...ASKING, ...JUDGED];
  const own = asking
    .filter((check) => isOfLayer(check, layer) && isWritten(block, check.key))
    .flatMap((check) =>
      check.asks!(block[check.key] as never).map((ask) => ({
        ...ask,
        layer,
        root: root ?? check.key,
      })),
    );
  const inner = COMBINING.filter((check) => isWritten(block, check.key)).flatMap(({ key }) => {
    const value = block[key];
    const blocks = (Array.isArray(value) ? value : [value]).filter(isBlock);
    return blocks.flatMap((one) => collect(layer, one, root ?? key));
  });
  return [...own, ...inner];
}

/** A block and all blocks nested in its combinators. */
export function* blocksIn(block: Block | undefined): Generator<Block> {
  if (block === undefined) return;
  yield block;
  for (const { key } of COMBINING) {
    const value = block[key];
    for (const inner of (Array.isArray(value) ? value : [value]).filter(isBlock))
      yield* blocksIn(inner);
  }
}

const isWritten = (block: Block, key: string): boolean =>
  Object.hasOwn(block, key) && block[key] !== undefined && block[key] !== null;

const isBlock = (value: unknown): value is Block => typeof value === 'object' && value !== null;

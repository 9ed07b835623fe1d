import { v } from '@agentci/lib/values';
import { defineCheck } from '../check.ts';
import type { Truth } from '../combine.ts';
import { type Block, combined, countText, evaluateBlock, negation, truthOf } from '../combine.ts';

export const check = defineCheck<Block>({
  layer: 'every',
  key: 'not',
  severity: 'layer',
  order: 942,
  summary: 'The checks in the block must not all hold.',
  wants: (block, words) => `Not (${words(block)})`,
  failure: {
    why: 'everything in the block holds',
    help: 'two checks in one block are one: split them under `all` to forbid each',
  },
  example: { regex_match: '(?i)as an ai' },
  schema: v.record(v.string(), v.unknown()),
  blocks: 'one',
  evaluate: (block, context) => {
    const { truth: inside, parts } = evaluateBlock(block, '', context);
    const truth = negation(inside);
    const value = parts.filter(({ seen }) => seen.outcome === 'held').length;
    let deciding: readonly Truth[];
    if (truth === 'violated') deciding = ['held'];
    else if (truth === 'held') deciding = ['violated'];
    else deciding = ['unknown'];
    return combined({
      truth,
      text: countText('not', parts.map(truthOf), 'not all may'),
      parts,
      deciding,
      value,
      limit: parts.length - 1,
    });
  },
});

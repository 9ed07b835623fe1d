import { v } from '@agentci/lib/values';
import { defineCheck } from '../check.ts';
import { type Block, combined, conjunction, countText, evaluateBlock } from '../combine.ts';

export const check = defineCheck<readonly Block[]>({
  layer: 'every',
  key: 'all',
  severity: 'layer',
  order: 940,
  summary: 'Every block of checks in the list must hold.',
  wants: (blocks, words) => `All of ${blocks.map((block) => `(${words(block)})`).join(' ')}`,
  failure: {
    why: 'a part does not hold',
    help: 'the message names it, and the JSON report has what every part found',
  },
  example: [
    { regex_match: '\\b30 days\\b' },
    { regex_match: '(?i)receipt' },
    { expected_in_answer: ['refund'], severity: 'warn' },
  ],
  schema: v.array(v.record(v.string(), v.unknown())),
  blocks: 'list',
  evaluate: (blocks, context) => {
    const seen = blocks.map((block, i) => evaluateBlock(block, `[${i}]`, context));
    const truth = conjunction(seen.map((block) => block.truth));
    const value = seen.filter((block) => block.truth === 'held').length;
    return combined({
      truth,
      text: countText(
        'all',
        seen.map((block) => block.truth),
      ),
      parts: seen.flatMap(({ parts }) => parts),
      deciding: truth === 'violated' ? ['violated'] : ['unknown'],
      value,
      limit: blocks.length,
    });
  },
});

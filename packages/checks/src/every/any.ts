import { v } from '@agentci/lib/values';
import { defineCheck } from '../check.ts';
import { type Block, combined, countText, disjunction, evaluateBlock } from '../combine.ts';

export const check = defineCheck<readonly Block[]>({
  layer: 'every',
  key: 'any',
  severity: 'layer',
  order: 941,
  summary: 'At least one block of checks in the list must hold.',
  wants: (blocks, words) =>
    `At least one of ${blocks.map((block) => `(${words(block)})`).join(' ')}`,
  failure: {
    why: 'no part holds',
    help: 'the message has the first of them. The JSON report has all',
  },
  example: [
    { expected_in_answer: ['refund', '30 days'] },
    { regex_match: '(?i)cannot help' },
    { llm_judge: [{ rule: 'The answer sends the customer to a person who can help.' }] },
  ],
  schema: v.array(v.record(v.string(), v.unknown())),
  blocks: 'list',
  evaluate: (blocks, context) => {
    const seen = blocks.map((block, i) => evaluateBlock(block, `[${i}]`, context));
    const truth = disjunction(seen.map((block) => block.truth));
    const deciding = seen.filter((block) => block.truth === truth);
    const value = seen.filter((block) => block.truth === 'held').length;
    const parts = seen.flatMap((block) => block.parts);
    const outcome = combined({
      truth,
      text: countText(
        'any',
        seen.map((block) => block.truth),
        'need at least 1',
      ),
      parts: deciding.flatMap((block) => block.parts),
      deciding: truth === 'skipped' ? [] : [truth],
      value,
      limit: 1,
    });
    return { ...outcome, parts };
  },
});

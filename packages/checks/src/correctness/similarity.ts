import type { Problem } from '@agentci/lib/problems';
import { visibleText } from '@agentci/lib/text';
import { type Infer, v } from '@agentci/lib/values';
import { finalText } from '@agentci/trace';
import { noAnswer } from '../answer.ts';
import { atLeast } from '../bounds.ts';
import { type Ask, defineCheck, unmeasured } from '../check.ts';
import { zeroBoundIssues } from '../issues.ts';
import { TEXT_METHODS } from '../text-similarity.ts';
import { number, quoted } from '../words.ts';

const METHODS = ['embedding', 'rouge_1', 'rouge_l', 'bleu', 'levenshtein', 'token_f1'] as const;
/** Longer texts are not compared, because the time grows with the product of both lengths. */
const MAX_COMPARED = 100_000;

const schema = v.strictObject({
  to: v.string().describe('The text to compare the answer with'),
  method: v.enum(METHODS).optional().describe('default: embedding'),
  min: v.number().min(0).max(1).describe('The lowest similarity that is kept, from 0 to 1'),
  model: v
    .string()
    .regex(/\S/)
    .optional()
    .describe('Embedding model, for example openai:text-embedding-3-small'),
});
export type SimilarityParams = Infer<typeof schema>;

export const check = defineCheck({
  layer: 'correctness',
  key: 'similarity',
  severity: 'fail',
  order: 75,
  summary: 'The answer must be at least this similar to a text, by meaning or by words.',
  wants: ({ to, min, method = 'embedding' }) =>
    `A similarity (${method}) of at least ${number(min)} to ${quoted(to)}`,
  failure: {
    why: 'the answer is less similar than the minimum',
    help: 'look at a few good answers first: the values of methods differ a lot',
  },
  example: { to: 'You get a refund within 30 days.', method: 'rouge_l', min: 0.5 },
  schema,
  inspect: similarityIssues,
  asks: (params): readonly Ask[] =>
    (params.method ?? 'embedding') === 'embedding'
      ? [{ kind: 'embedding', item: params, key: 'similarity' }]
      : [],
  evaluate: (params, { trace, asked }) => {
    const { to, method = 'embedding', min } = params;
    const answer = finalText(trace);
    const what = `similarity (${method})`;
    if (answer === undefined)
      return unmeasured(`${noAnswer(trace)}; ${what} of at least ${number(min)} expected`, {
        limit: min,
      });
    if (method === 'embedding')
      return (
        asked?.get(params) ??
        unmeasured(`${what}: not known, no embedding model was asked`, { limit: min })
      );
    if (answer.length > MAX_COMPARED || to.length > MAX_COMPARED)
      return unmeasured(
        `${what}: not known, texts of more than ${MAX_COMPARED} characters are not compared`,
        {
          limit: min,
        },
      );
    const value = TEXT_METHODS[method](answer, to);
    return atLeast({ value, min, what, rest: { details: { similarity: { method, value } } } });
  },
});

function similarityIssues({ to, min, method = 'embedding', model }: SimilarityParams): Problem[] {
  const issues: Problem[] = zeroBoundIssues('min', min).map((issue) => ({
    ...issue,
    path: ['min'],
  }));
  if (visibleText(to).trim() === '')
    issues.push({ code: 'SPEC_EMPTY', message: 'similarity: "to" is blank', path: ['to'] });
  if (model !== undefined && method !== 'embedding')
    issues.push({
      code: 'SPEC_NEEDS_KEY',
      message: `similarity: ${method} needs no model`,
      hint: 'model belongs to method: embedding',
      path: ['model'],
    });
  return issues;
}

import { v } from '@agentci/lib/values';
import { cosine } from '../cosine.ts';
import { answerOf, expectedOf, metadataOf, ownField } from '../input.ts';
import { NO_MODELS } from '../local-models.ts';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { measuredWithin } from './clip-similarity.ts';

export const metric = defineMetric({
  name: 'image_caption_accuracy',
  group: 'multimodal',
  layer: 'correctness',
  needs: ['expected_output', 'an answer', 'an embedding model for the semantic part'],
  summary:
    'agreement of a caption with the reference: 0.7 meaning and 0.3 words (use_semantic: false compares words alone)',
  params: () =>
    metricParams({
      use_semantic: v
        .boolean()
        .default(true)
        .describe('compare meanings, which needs a model; false: words alone'),
    }),
  evaluate: (input) => {
    const expected = expectedOf(input);
    const answer = answerOf(input);
    if (expected === undefined || expected.trim() === '')
      return notMeasured('no expected_output (reference caption)');
    if (answer === undefined) return notMeasured('no answer captured');
    const words = keywordScores(expected, answer);
    if (!input.params.use_semantic)
      return measured(words.keyword_f1, { ...words, method: 'keywords' });
    const given = ownField(metadataOf(input), 'semantic_similarity');
    if (typeof given === 'number' && Number.isFinite(given))
      return blend(given, words, 'given similarity');
    const { models } = input;
    // Words alone are another formula, and a bound for one says nothing about the other.
    if (models === undefined)
      return notMeasured(`${NO_MODELS}; or compare words alone with use_semantic: false`, words);
    return models.embedTexts([expected, answer]).then((embedded) => {
      if (!embedded.ok)
        return notMeasured(
          `${embedded.reason}; or compare words alone with use_semantic: false`,
          words,
        );
      const similarity = cosine(embedded.vectors[0] ?? [], embedded.vectors[1] ?? []);
      return Number.isFinite(similarity)
        ? blend(similarity, words, embedded.model)
        : notMeasured('the embeddings cannot be compared', words);
    });
  },
});

type Words = Readonly<Record<'keyword_precision' | 'keyword_recall' | 'keyword_f1', number>>;

function keywordScores(expected: string, answer: string): Words {
  const reference = wordsOf(expected);
  const given = wordsOf(answer);
  const common = [...given].filter((word) => reference.has(word)).length;
  const precision = given.size === 0 ? 0 : common / given.size;
  const recall = reference.size === 0 ? 0 : common / reference.size;
  const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return { keyword_precision: precision, keyword_recall: recall, keyword_f1: f1 };
}

const wordsOf = (text: string): Set<string> =>
  new Set(text.toLowerCase().split(/\s+/).filter(Boolean));

function blend(similarity: number, words: Words, model: string) {
  const raw = 0.7 * similarity + 0.3 * words.keyword_f1;
  return measuredWithin(raw, {
    semantic_similarity: similarity,
    ...words,
    method: 'semantic and keywords',
    model,
  });
}

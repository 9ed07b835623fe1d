import { v } from '@agentci/lib/values';
import { answerOf, caseOf, metadataOf, ownField } from '../input.ts';
import { defineMetric, type MetricInput, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { hasMedia } from './media.ts';

const KEYWORDS = {
  image: ['image', 'picture', 'photo', 'visual', 'see', 'shown', 'display'],
  audio: ['audio', 'sound', 'hear', 'listen', 'voice', 'spoken'],
  video: ['video', 'clip', 'footage', 'scene', 'frame'],
  text: ['text', 'written', 'document', 'read'],
} as const;
type Modality = keyof typeof KEYWORDS;

const CONNECTORS = [
  'while',
  'also',
  'additionally',
  'furthermore',
  'moreover',
  'in addition to',
  'along with',
  'together with',
  'combined with',
];
const ENOUGH_CONNECTORS = 3;

export const metric = defineMetric({
  name: 'multimodal_coherence',
  group: 'multimodal',
  layer: 'correctness',
  needs: ['an answer', 'a query, or media paths in metadata'],
  summary: 'whether the answer speaks of every kind of input, and joins them',
  params: () =>
    metricParams({
      whole_words: v.boolean().default(false).describe('"already" then no longer counts as "read"'),
    }),
  evaluate: (input) => {
    const answer = answerOf(input)?.toLowerCase();
    if (answer === undefined) return notMeasured('no answer captured');
    const modalities = modalitiesOf(input);
    if (modalities.length === 0) return notMeasured('no input of any kind');
    const has = (word: string): boolean =>
      input.params.whole_words
        ? new RegExp(`(?<![\\p{L}\\p{N}_])${word}(?![\\p{L}\\p{N}_])`, 'u').test(answer)
        : answer.includes(word);
    const referenced = modalities.filter((modality) => KEYWORDS[modality].some(has));
    const connectors = CONNECTORS.filter(has).length;
    const coverage = referenced.length / modalities.length;
    const coherence = Math.min(1, connectors / ENOUGH_CONNECTORS);
    return measured(0.6 * coverage + 0.4 * coherence, {
      input_modalities: modalities,
      referenced_modalities: referenced,
      coverage_score: coverage,
      coherence_score: coherence,
      coherence_indicators_found: connectors,
    });
  },
});

function modalitiesOf(input: MetricInput): Modality[] {
  const metadata = metadataOf(input);
  const media = (['image', 'audio', 'video'] as const).filter((kind) => hasMedia(input, kind));
  return ownField(metadata, 'text') || caseOf(input).query ? [...media, 'text'] : media;
}

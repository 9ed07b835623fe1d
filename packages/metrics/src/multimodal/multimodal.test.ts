import type { Part } from '@agentci/trace';
import { simpleTrace } from '@agentci/trace';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MetricOutput } from '../metric.ts';
import { metric as transcription } from './audio-transcription-quality.ts';
import { metric as caption } from './image-caption-accuracy.ts';
import { mediaPath } from './media.ts';
import { metric as coherence } from './multimodal-coherence.ts';

const traceWith = (...parts: Part[]) => ({
  ...simpleTrace({ query: 'q', answer: 'The picture also shows it.' }),
  task: { input: [{ role: 'user' as const, parts }] },
});
const image = (uri: string): Part => ({ type: 'media', modality: 'image', uri });

describe('what the agent was given to look at', () => {
  test.each([
    ['a path', [image('a.png')], 'a.png'],
    ['a file address', [image('file:///data/a.png')], '/data/a.png'],
    [
      'an address on the net, which is never fetched',
      [image('https://example.com/a.png')],
      undefined,
    ],
    ['data in the address', [image('data:image/png;base64,AA')], undefined],
    ['another kind', [{ type: 'media', modality: 'audio', uri: 'a.mp3' } as Part], undefined],
    ['the first that is a file', [image('https://example.com/a.png'), image('b.png')], 'b.png'],
  ])('%s', (_, parts, path) => {
    expect(mediaPath({ trace: traceWith(...parts) }, 'image')).toBe(path);
  });

  test('metadata wins over the trace', () => {
    const input = {
      case: { metadata: { image_path: 'mine.png' } },
      trace: traceWith(image('a.png')),
    };
    expect(mediaPath(input, 'image')).toBe('mine.png');
  });

  test('multimodal_coherence counts what the trace shows', () => {
    const trace = traceWith(image('https://example.com/a.png'));
    expect(coherence.evaluate({ trace })).toMatchObject({
      detail: {
        input_modalities: ['image'],
        referenced_modalities: ['image'],
        coherence_indicators_found: 1,
      },
    });
  });
});

const words = fc.array(fc.constantFrom('one', 'two', 'three', 'four'), {
  minLength: 1,
  maxLength: 8,
});
const wer = (expected: string, answer: string) =>
  (transcription.evaluate({ case: { expected_output: expected }, outcome: answer }) as MetricOutput)
    .detail as {
    wer: number;
    cer: number;
  };

test('the word error rate is 0 for the same words with any spacing, and positive otherwise', () => {
  fc.assert(
    fc.property(words, words, (a, b) => {
      expect(wer(a.join(' '), ` ${a.join('  ')} `).wer).toBe(0);
      expect(wer(a.join(' '), b.join(' ')).wer === 0).toBe(a.join(' ') === b.join(' '));
    }),
  );
});

test('edits there and back are as many: wer times the length of its reference is the same both ways', () => {
  fc.assert(
    fc.property(words, words, (a, b) => {
      const there = wer(a.join(' '), b.join(' ')).wer * a.length;
      expect(wer(b.join(' '), a.join(' ')).wer * b.length).toBeCloseTo(there, 9);
      expect(there).toBeGreaterThanOrEqual(Math.abs(a.length - b.length) - 1e-9);
    }),
  );
});

test('the words of a caption count in any order', () => {
  fc.assert(
    fc.property(words, (given) => {
      const value = (answer: string[]) =>
        (
          caption.evaluate({
            case: { expected_output: 'one two five' },
            outcome: answer.join(' '),
            params: { use_semantic: false },
          }) as MetricOutput
        ).value;
      expect(value(given.toReversed())).toBe(value(given));
    }),
  );
});

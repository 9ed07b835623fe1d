import type { Judge, JudgeTask } from '@agentci/judge';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LocalModels } from '../local-models.ts';
import { metric as answerCorrectness } from './answer-correctness.ts';
import { averagePrecision } from './context-precision.ts';
import { metric as faithfulness } from './faithfulness.ts';
import { metric as hallucinationRate } from './hallucination-rate.ts';
import { verdictIssue } from './model-method.ts';
import { metric as retrievalQuality } from './retrieval-quality.ts';
import { f1Of } from './statement-f1.ts';

const record = {
  model: 'test:model',
  prompt_hash: '',
  rubric: { id: '', version: '' },
  vote: 0,
  cached: false,
  calls: 1,
  cost_usd: 0,
};

/** A judge that splits at full stops and supports a statement if the premises contain it. */
const literalJudge: Judge = {
  ask: async () => ({ error: true, kind: 'no_model', message: 'only tasks' }),
  perform: async (task) => {
    const block = (name: string) =>
      task.blocks.filter((each) => each.name.startsWith(name)).map(({ text }) => text);
    const reply = replyTo(task, block);
    const why = task.check(reply);
    return why === undefined ? { reply, record } : { error: true, kind: 'invalid', message: why };
  },
};

function replyTo(task: JudgeTask, block: (name: string) => string[]): unknown {
  if (task.id === 'metric.claims')
    return {
      statements: block('text')[0]!
        .split('.')
        .map((part) => part.trim())
        .filter(Boolean),
    };
  const lines =
    task.id === 'metric.useful' ? block('context') : block('statements')[0]!.split('\n');
  const premises = (task.id === 'metric.useful' ? block('answer') : block('premise')).join(' ');
  return {
    verdicts: lines.map((line, i) => ({
      index: i + 1,
      reason: 'r',
      verdict: premises.includes(line.replace(/^\d+\. /, '')) ? 1 : 0,
    })),
  };
}

const model = { method: 'model' };
const context = ['Oslo is in Norway', 'It rains in Bergen'];

describe('by model', () => {
  test('faithfulness is the share of claims the context supports', async () => {
    const given = {
      case: { context },
      outcome: 'Oslo is in Norway. It never snows.',
      judge: literalJudge,
      params: model,
    };
    expect(await faithfulness.evaluate(given)).toMatchObject({
      value: 0.5,
      detail: { method: 'model', model: 'test:model', claims: 2, supported: 1, judge_calls: 2 },
    });
    expect(await hallucinationRate.evaluate(given)).toMatchObject({
      value: 0.5,
      detail: { unsupported: 1 },
    });
  });

  test('an answer that claims nothing is not measured', async () => {
    const output = await faithfulness.evaluate({
      case: { context },
      outcome: '.',
      judge: literalJudge,
      params: model,
    });
    expect(output).toMatchObject({
      value: null,
      detail: { reason: expect.stringContaining('nothing') },
    });
  });

  test('answer_correctness combines statement F1 and similarity, and uses one alone only if chosen', async () => {
    const given = {
      case: { expected_output: 'Oslo is in Norway. It rains' },
      outcome: 'Oslo is in Norway. It snows',
      judge: literalJudge,
      params: model,
    };
    expect(await answerCorrectness.evaluate(given)).toMatchObject({
      value: null,
      detail: { tp: 1, fp: 1, fn: 1, reason: expect.stringContaining('similarity_weight: 0') },
    });
    const alone = { ...given, params: { ...model, similarity_weight: 0 } };
    expect(await answerCorrectness.evaluate(alone)).toMatchObject({
      value: 0.5,
      detail: { tp: 1, fp: 1, fn: 1 },
    });
    const models = {
      embedTexts: async () => ({
        ok: true,
        vectors: [
          [1, 0],
          [1, 0],
        ],
        model: 'tiny',
      }),
    } as unknown as LocalModels;
    expect(await answerCorrectness.evaluate({ ...given, models })).toMatchObject({
      value: 0.75 * 0.5 + 0.25,
      detail: { similarity: 1, embedding_model: 'tiny' },
    });
  });

  test('two texts that claim nothing cannot be compared', async () => {
    const given = {
      case: { expected_output: '.' },
      outcome: '..',
      judge: literalJudge,
      params: model,
    };
    expect(await answerCorrectness.evaluate(given)).toMatchObject({ value: null });
  });

  test('retrieval_quality is the average precision of the ranked texts', async () => {
    const output = await retrievalQuality.evaluate({
      case: { context: ['noise', 'Oslo'] },
      outcome: 'In Oslo',
      judge: literalJudge,
      params: model,
    });
    expect(output).toMatchObject({
      value: 0.5,
      detail: { verdicts: [{ useful: false }, { useful: true }] },
    });
  });

  test('without a judge there is no value, and never another method', async () => {
    for (const metric of [faithfulness, hallucinationRate, retrievalQuality]) {
      const output = await metric.evaluate({
        case: { context: ['a'] },
        outcome: 'a',
        params: model,
      });
      expect(output).toMatchObject({
        value: null,
        detail: { method: 'model', reason: expect.stringContaining('judge') },
      });
    }
  });
});

test.each([
  [[true], 1],
  [[false, true], 0.5],
  [[true, false, true], (1 + 2 / 3) / 2],
  [[false, false], 0],
  [[], 0],
])('average precision of %j is %d', (useful, value) => {
  expect(averagePrecision(useful)).toBeCloseTo(value, 12);
});

test('f1 is within 0 and 1, and 1 only without mistakes', () => {
  fc.assert(
    fc.property(fc.nat(20), fc.nat(20), fc.nat(20), (tp, fp, fn) => {
      const f1 = f1Of({ tp, fp, fn });
      expect(f1).toBeGreaterThanOrEqual(0);
      expect(f1 === 1).toBe(fp === 0 && fn === 0);
    }),
  );
});

test.each([
  [{ verdicts: [] }, 1],
  [{ verdicts: [{ index: 2, reason: '', verdict: 1 }] }, 1],
  [{ verdicts: [{ index: 1, reason: '', verdict: 0.5 }] }, 1],
  [{ verdicts: [{ index: 1, verdict: 1 }] }, 1],
  [null, 1],
])('%j is not a list of verdicts', (reply, count) => {
  expect(verdictIssue(reply, count)).toEqual(expect.any(String));
});

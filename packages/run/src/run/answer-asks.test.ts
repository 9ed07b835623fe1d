import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Judge, JudgeQuestion, Verdict } from '@agentci/judge';
import { createJudge } from '@agentci/judge';
import { parseSpec } from '@agentci/spec';
import { simpleTrace } from '@agentci/trace';
import { afterAll, describe, expect, test } from 'vitest';
import { evaluateQuery } from './evaluate-query.ts';

const queryOf = (checks: string) => {
  const { suite, diagnostics } = parseSpec(`agent: a\nqueries:\n  - query: q\n${checks}`);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return suite!.queries[0]!;
};

/** A judge that returns a fixed score per rule and counts its questions. */
function scoring(scores: Readonly<Record<string, number>>): Judge & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    ask: async ({ rubric }: JudgeQuestion): Promise<Verdict> => {
      asked.push(rubric.rule);
      return {
        rationale: `because ${rubric.rule}`,
        score: scores[rubric.rule] ?? 3,
        label: 'pass',
      };
    },
  };
}

describe('rubrics in combinators', () => {
  const rubric = (rule: string) => `{llm_judge: [{rule: ${rule}, threshold: 0.7}]}`;
  test.each([
    {
      when: 'not, and it passes',
      block: `not: ${rubric('rude')}`,
      scores: { rude: 5 },
      status: 'fail',
      asked: ['rude'],
    },
    {
      when: 'not, and it fails',
      block: `not: ${rubric('rude')}`,
      scores: { rude: 1 },
      status: 'pass',
      asked: ['rude'],
    },
    {
      when: 'any, open',
      block: `any: [{regex_match: nope}, ${rubric('kind')}]`,
      scores: { kind: 5 },
      status: 'pass',
      asked: ['kind'],
    },
    {
      when: 'any, settled without it',
      block: `any: [{regex_match: hello}, ${rubric('kind')}]`,
      scores: { kind: 1 },
      status: 'pass',
      asked: [],
    },
    {
      when: 'all, settled without it',
      block: `all: [{regex_match: nope}, ${rubric('kind')}]`,
      scores: { kind: 5 },
      status: 'fail',
      asked: [],
    },
    {
      when: 'another check failed already',
      block: `regex_match: nope, not: ${rubric('rude')}`,
      scores: { rude: 1 },
      status: 'fail',
      asked: [],
    },
    {
      when: 'two in one',
      block: `any: [{llm_judge: [{rule: a}, {rule: b}]}]`,
      scores: { a: 5, b: 1 },
      status: 'fail',
      asked: ['a', 'b'],
    },
  ])('$when: $status', async ({ block, scores, status, asked }) => {
    const judge = scoring(scores as unknown as Readonly<Record<string, number>>);
    const query = queryOf(`    correctness: {${block}}\n`);
    const result = await evaluateQuery({ query, trace: simpleTrace({ answer: 'hello' }), judge });
    expect(result.status).toBe(status);
    expect(judge.asked.sort()).toEqual(asked);
  });

  test('with the judge off they are skipped with a notice', async () => {
    const query = queryOf(`    correctness: {not: ${rubric('rude')}}\n`);
    const result = await evaluateQuery({
      query,
      trace: simpleTrace({ answer: 'hello' }),
      judge: 'off',
    });
    expect(result.correctness.checks).toMatchObject([{ status: 'skip', skip_reason: 'off' }]);
    expect(result.status).toBe('error');
  });

  test('the place of a part is in the result', async () => {
    const query = queryOf(`    correctness:\n      any:\n        - regex_match: nope\n`);
    const result = await evaluateQuery({ query, trace: simpleTrace({ answer: 'hello' }) });
    expect(result.correctness.checks[0]?.parts).toMatchObject([
      {
        id: 'correctness.any[0].regex_match',
        outcome: 'violated',
        location: { line: 6, column: 11 },
      },
    ]);
  });
});

describe('similarity by embedding', () => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { input } = JSON.parse(body) as { input: string[] };
      const data = input.map((text, index) => ({
        object: 'embedding',
        index,
        embedding: text.includes('cat') ? [1, 0] : [0.6, 0.8],
      }));
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          object: 'list',
          data,
          model: 'm',
          usage: { prompt_tokens: 1, total_tokens: 1 },
        }),
      );
    });
  }).listen(0, '127.0.0.1');
  afterAll(() => server.close());
  const judge = () =>
    createJudge({
      model: 'openai-compatible:m',
      base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    });
  const evaluate = async (min: number, embed?: boolean) => {
    const query = queryOf(`    correctness: {similarity: {to: a cat, min: ${min}, model: m}}\n`);
    const outside =
      embed === false
        ? {}
        : {
            embed: (texts: readonly string[], model: string | undefined) =>
              judge().embed!(texts, model),
          };
    const result = await evaluateQuery({ query, trace: simpleTrace({ answer: 'a dog' }), outside });
    return result.correctness.checks[0];
  };

  test.each([
    { min: 0.5, status: 'pass' },
    { min: 0.7, status: 'fail' },
  ])('a cosine of 0.6 against $min: $status', async ({ min, status }) => {
    expect(await evaluate(min)).toMatchObject({
      status,
      limit: min,
      message: expect.stringContaining('openai-compatible:m'),
    });
  });

  test('without a model they are errors', async () => {
    expect(await evaluate(0.5, false)).toMatchObject({ status: 'error' });
  });

  test.each([
    { config: { model: 'claude-x' }, reason: /no embedding model/ },
    { config: { model: 'gpt-4o' }, reason: /has no key/ },
    { config: { model: 'gpt-4o', mode: 'recorded' as const }, reason: /makes no calls/ },
    {
      config: { model: 'openai-compatible:m', base_url: 'http://127.0.0.1:1/v1' },
      reason: /no embedding model/,
    },
  ])('$config.model says why it has none', async ({ config, reason }) => {
    expect(await createJudge(config).embed!(['a'])).toMatchObject({
      ok: false,
      reason: expect.stringMatching(reason),
    });
  });
});

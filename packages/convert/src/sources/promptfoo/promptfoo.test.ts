import { convertFiles } from '@agentci/testing/convert';
import { describe, expect, test } from 'vitest';

const contains = (value: string) => ({ type: 'contains', value });

describe('cases', () => {
  test('are prompts times tests times combinations of variables', async () => {
    const { suite } = await convertFiles({
      'promptfooconfig.yaml': `
prompts: ["Say {{word}} in {{lang}}", file://two.txt]
providers: [echo]
defaultTest: {vars: {lang: [French, German]}, assert: [{type: contains, value: "{{word}}"}]}
tests: [{vars: {word: [hello, bye]}}]
`,
      'two.txt': 'A: {{word}}\n---\nB: {{word}}',
    });
    expect(suite.queries).toHaveLength(12);
    expect(suite.queries.slice(0, 4).map(({ query }) => query)).toEqual([
      'Say hello in French',
      'A: hello',
      'B: hello',
      'Say bye in French',
    ]);
  });

  test('scenarios are every configuration times every test, with the assertions of both', async () => {
    const { suite, verdicts } = await convertFiles({
      'promptfooconfig.json': {
        prompts: ['{{a}}{{b}}'],
        providers: ['echo'],
        scenarios: [
          {
            config: [{ vars: { a: '1' }, assert: [contains('x')] }, { vars: { a: '2' } }],
            tests: [{ vars: { b: 'p' }, assert: [contains('y')] }, { vars: { b: 'q' } }],
          },
        ],
        defaultTest: { assert: [contains('z')] },
      },
    });
    expect(suite.queries.map(({ query }) => query)).toEqual(['1p', '1q', '2p', '2q']);
    expect(verdicts).toEqual(['contains exact', 'contains exact', 'contains exact']);
  });

  test('columns of a CSV file are variables, assertions, metadata and a threshold', async () => {
    const { suite, judge } = await convertFiles({
      'promptfooconfig.yaml': 'prompts: ["{{q}}"]\nproviders: [echo]\ntests: file://t.csv\n',
      't.csv':
        'q,__expected1,__expected2,__threshold,__metadata:team,__description\nhi,contains: a,contains: b,0.5,desk,first\nyo,"icontains-any: ""a, b"", c",,,,second\n',
    });
    expect(suite.queries.map(({ id, metadata }) => ({ id, metadata }))).toEqual([
      { id: 'first', metadata: { team: 'desk' } },
      { id: 'second', metadata: undefined },
    ]);
    expect(
      await judge([
        { id: 'first', answer: 'only b' },
        { id: 'second', answer: 'A, B' },
      ]),
    ).toEqual({ first: 'pass', second: 'pass' });
    expect(
      await judge([
        { id: 'first', answer: 'nothing' },
        { id: 'second', answer: 'a b' },
      ]),
    ).toEqual({ first: 'fail', second: 'fail' });
  });

  test('references to templates of assertions are put in place', async () => {
    const { verdicts } = await convertFiles({
      'promptfooconfig.yaml':
        'prompts: [x y]\nproviders: [echo]\nassertionTemplates: {polite: {type: contains, value: please}}\ntests: [{assert: [{$ref: "#/assertionTemplates/polite"}]}]\n',
    });
    expect(verdicts).toEqual(['contains exact']);
  });

  test.each([
    {
      what: 'template logic',
      prompt: '{% if q %}{{q}}{% endif %}',
      why: 'template logic ({% … %}) is not carried',
    },
    { what: 'a filter', prompt: '{{ q | upper }}', why: '{{q | upper}} is more than a variable' },
    {
      what: 'the environment',
      prompt: '{{ env.HOME }}',
      why: '{{env.HOME}} is of the environment, which is not read',
    },
  ])('a prompt with $what is skipped, never asked half-filled', async ({ prompt, why }) => {
    const { suite } = await convertFiles({
      'promptfooconfig.json': {
        prompts: [prompt],
        providers: ['echo'],
        tests: [{ vars: { q: 'x' }, assert: [contains('x')] }],
      },
    });
    expect(suite.queries[0]!.skip).toBe(why);
  });

  test('results of a run become cases with their recordings', async () => {
    const { report, files, judge } = await convertFiles({
      'results.json': {
        evalId: 'e',
        config: {},
        results: {
          results: [
            {
              prompt: { raw: 'hi' },
              vars: {},
              response: { output: 'hello', tokenUsage: { total: 7 } },
              latencyMs: 12,
              cost: 0.1,
              testCase: { assert: [contains('hello'), { type: 'cost', threshold: 0.01 }] },
            },
          ],
        },
      },
    });
    expect(report.files).toContain('recordings.jsonl');
    const recorded = JSON.parse(files.get('recordings.jsonl')!) as object;
    expect(recorded).toEqual({
      id: 'result-1',
      query: 'hi',
      answer: 'hello',
      cost_usd: 0.1,
      latency_ms: 12,
      total_tokens: 7,
    });
    expect(await judge([recorded])).toEqual({ 'result-1': 'fail' });
  });
});

describe('providers', () => {
  const convert = (providers: unknown, options: object = {}) =>
    convertFiles(
      {
        'promptfooconfig.json': {
          prompts: ['{{q}}'],
          providers,
          tests: [{ vars: { q: 'x', lang: 'fr' }, assert: [contains('x')] }],
        },
      },
      options,
    );

  test.each([
    { providers: ['openai:gpt-5-mini'], runner: { model: 'openai-chat:gpt-5-mini' } },
    { providers: ['openai:responses:gpt-5'], runner: { model: 'openai:gpt-5' } },
    {
      providers: [{ id: 'anthropic:messages:claude-sonnet-4-5', config: { temperature: 0.2 } }],
      runner: { model: 'anthropic:claude-sonnet-4-5', temperature: 0.2 },
    },
    { providers: ['google:gemini-2.5-flash'], runner: { model: 'google:gemini-2.5-flash' } },
  ])('$providers becomes a runner that asks the model', async ({ providers, runner }) => {
    const { suite, report } = await convert(providers);
    expect(suite.runner).toMatchObject(runner);
    expect(report.settings.map(({ verdict }) => verdict)).toEqual(['exact']);
  });

  test('several models are a matrix', async () => {
    const { suite } = await convert(['openai:gpt-5', 'anthropic:messages:claude-sonnet-4-5']);
    expect(new Set(suite.queries.map(({ cell }) => cell?.model))).toEqual(
      new Set(['openai-chat:gpt-5', 'anthropic:claude-sonnet-4-5']),
    );
  });

  const http = {
    id: 'https://example.org/chat',
    config: {
      method: 'POST',
      headers: { authorization: 'Bearer {{env.KEY}}' },
      body: { text: '{{prompt}}', lang: '{{lang}}' },
      transformResponse: 'json.choices[0].text',
    },
  };
  test('an HTTP provider keeps its request, its variables and the path of the answer, with environment variables by name', async () => {
    const { suite, spec } = await convert([http]);
    expect(suite.runner).toMatchObject({
      http: {
        url: 'https://example.org/chat',
        headers: { authorization: 'Bearer ${KEY}' },
        body: { text: '{{query}}', lang: '{{lang}}' },
        answer: '/choices/0/text',
      },
    });
    expect(spec).toContain('vars: {lang: fr}');
  });

  test.each([
    { what: 'code', providers: ['file://agent.py'], why: /code of the provider is not run/ },
    { what: 'a service that no runner asks', providers: ['bedrock:x'], why: /no runner asks/ },
    {
      what: 'a request that code makes',
      providers: [{ ...http, config: { ...http.config, transformRequest: 'x' } }],
      why: /transformRequest/,
    },
    { what: 'a command that needs a shell', providers: ['exec: cat x | wc'], why: /needs a shell/ },
  ])('$what is not a runner, and the report lists it', async ({ providers, why }) => {
    const { suite, report } = await convert(providers);
    expect(suite.runner).toBeUndefined();
    expect(report.settings[0]).toMatchObject({ verdict: 'none', why: expect.stringMatching(why) });
  });

  test('a program gets the prompt as its argument', async () => {
    const { suite } = await convert(['exec: node "my agent.js"'], { lossy: true });
    expect(suite.runner).toMatchObject({
      command: ['node', '-e', expect.any(String), 'node', 'my agent.js'],
    });
  });

  test('a runner that is only close is written when asked for', async () => {
    const providers = [{ id: 'openai:gpt-5', config: { max_tokens: 9 } }];
    expect((await convert(providers)).suite.runner).toBeUndefined();
    expect((await convert(providers, { lossy: true })).spec).toContain(
      '# close: the runner is without max_tokens of its config',
    );
  });
});

describe('calls of tools', () => {
  const call = (name: string, args: object = {}) => ({ name, args });
  test.each([
    {
      when: 'a tool was used, in any case',
      assert: { type: 'trajectory:tool-used', value: 'Refund*' },
      good: [call('refund_order')],
      bad: [call('search')],
    },
    {
      when: 'one of two is missing',
      assert: { type: 'trajectory:tool-used', value: ['a', 'b'] },
      good: [call('b'), call('a')],
      bad: [call('a')],
    },
    {
      when: 'none of two may be used',
      assert: { type: 'not-trajectory:tool-used', value: ['a', 'b'] },
      good: [call('c')],
      bad: [call('b')],
    },
    {
      when: 'it is counted',
      assert: { type: 'trajectory:tool-used', value: { name: 'a', min: 1, max: 1 } },
      good: [call('a')],
      bad: [call('a'), call('a')],
    },
    {
      when: 'the order counts',
      assert: { type: 'trajectory:tool-sequence', value: ['look', 'book'] },
      good: [call('look'), call('x'), call('book')],
      bad: [call('book'), call('look')],
    },
    {
      when: 'the case of a name does not count',
      assert: { type: 'trajectory:tool-sequence', value: ['Search*', 'book'] },
      good: [call('searchWeb'), call('BOOK')],
      bad: [call('seek'), call('BOOK')],
    },
    {
      when: 'the case of a name does not count',
      assert: { type: 'not-trajectory:tool-sequence', value: ['DROP'] },
      good: [call('b')],
      bad: [call('drop')],
    },
    {
      when: 'the case of a name does not count',
      assert: { type: 'trajectory:tool-args-match', value: { name: 'Pay', args: { id: 7 } } },
      good: [call('pay', { id: 7 })],
      bad: [call('pays', { id: 7 })],
    },
    {
      when: 'nothing else may be called',
      assert: {
        type: 'trajectory:tool-sequence',
        value: { mode: 'exact', steps: ['look', 'book'] },
      },
      good: [call('look'), call('book')],
      bad: [call('look'), call('x'), call('book')],
    },
    {
      when: 'arguments are a part',
      assert: { type: 'trajectory:tool-args-match', value: { name: 'look', args: { id: 7 } } },
      good: [call('look', { id: 7, x: 1 })],
      bad: [call('look', { id: 8 })],
    },
    {
      when: 'arguments are exact',
      assert: {
        type: 'trajectory:tool-args-match',
        value: { name: 'look', mode: 'exact', args: { id: 7 } },
      },
      good: [call('look', { id: 7 })],
      bad: [call('look', { id: 7, x: 1 })],
    },
    {
      when: 'steps are counted',
      assert: { type: 'trajectory:step-count', value: { type: 'tool', max: 1 } },
      good: [call('a')],
      bad: [call('a'), call('b')],
    },
  ])('$assert.type: $when', async ({ assert, good, bad }) => {
    const { judge, verdicts } = await convertFiles({
      'promptfooconfig.json': {
        prompts: ['q'],
        providers: ['echo'],
        tests: [{ assert: [assert] }],
      },
    });
    expect(verdicts).toEqual([`${assert.type} exact`]);
    expect(await judge([{ query: 'q', answer: 'x', tool_calls: good }])).toEqual({
      'test-1': 'pass',
    });
    expect(await judge([{ query: 'q', answer: 'x', tool_calls: bad }])).toEqual({
      'test-1': 'fail',
    });
    expect(await judge([{ query: 'q', answer: 'x' }])).toEqual({ 'test-1': 'error' });
  });
});

test('providers are reported at their own lines, texts and maps alike', async () => {
  const { report } = await convertFiles({
    'promptfooconfig.yaml': `prompts: [hello]
providers:
  - exec:one
  - id: openai:gpt-4o-mini
  - exec:two
tests: [{assert: [{type: contains, value: x}]}]
`,
  });
  const lines = report.settings
    .filter(({ type }) => type.startsWith('provider'))
    .map(({ type, line }) => [type, line]);
  expect(new Map(lines as [string, number][])).toEqual(
    new Map([
      ['provider exec:one', 3],
      ['provider openai:gpt-4o-mini', 4],
      ['provider exec:two', 5],
    ]),
  );
});

test.each([
  { when: 'by label', test: { prompts: ['short'] }, queries: ['S'] },
  { when: 'by the text of one without a label', test: { prompts: ['L'] }, queries: ['L'] },
  { when: 'with a wildcard', test: { prompts: ['group:*'] }, queries: ['G1', 'G2'] },
  { when: 'by group', test: { prompts: ['group'] }, queries: ['G1', 'G2'] },
  {
    when: 'that match nothing',
    test: { prompts: ['none'] },
    queries: ['S'],
    skip: 'leave nothing to ask',
  },
  { when: 'of providers that match', test: { providers: ['ec*'], prompts: ['L'] }, queries: ['L'] },
  {
    when: 'of providers that do not',
    test: { providers: ['x'], prompts: ['L'] },
    queries: ['S'],
    skip: 'leave nothing',
  },
  {
    when: 'by a separate provider',
    test: { provider: 'x', prompts: ['L'] },
    queries: ['L'],
    skip: 'a separate provider',
  },
])('filters of a test are kept: $when', async ({ test: own, queries, skip }) => {
  const { suite, report } = await convertFiles({
    'promptfooconfig.json': {
      prompts: [
        { raw: 'S', label: 'short' },
        'L',
        { raw: 'G1', label: 'group:1' },
        { raw: 'G2', label: 'group:2' },
      ],
      providers: ['echo'],
      tests: [{ ...own, assert: [contains('x')] }],
    },
  });
  expect(suite.queries.map(({ query }) => query)).toEqual(queries);
  expect(report.skipped.map(({ why }) => why)).toEqual(
    skip === undefined ? [] : [expect.stringContaining(skip)],
  );
  expect(report.counts.exact).toBe(skip === undefined ? 1 : 0);
});

test('a test for some of several models is skipped, and a provider has separate prompts', async () => {
  const { report, suite } = await convertFiles({
    'promptfooconfig.json': {
      prompts: ['A', 'B'],
      providers: [
        { id: 'openai:gpt-4o', label: 'big', prompts: ['A'] },
        { id: 'openai:gpt-4o-mini', prompts: ['A'] },
      ],
      tests: [{ assert: [contains('x')] }, { providers: ['big'], assert: [contains('y')] }],
    },
  });
  expect(report.cases).toBe(2);
  expect(new Set(suite.queries.map(({ query }) => query))).toEqual(new Set(['A']));
  expect(report.skipped.map(({ why }) => why)).toEqual([
    expect.stringContaining('only some providers'),
  ]);
});

test.each([
  {
    when: 'in a header',
    config: { headers: { Authorization: 'Bearer abc-def-123456' } },
    spec: 'Bearer ${AUTHORIZATION}',
  },
  {
    when: 'in a custom header',
    config: { headers: { 'X-Api-Key': 'abc-def-123456' } },
    spec: '${X_API_KEY}',
  },
  { when: 'in the body', config: { body: { q: '{{prompt}}', api_key: 'abc-def-123456' } } },
  { when: 'in the URL', config: { url: 'https://api.test/x?api_key=abc-def-123456' } },
])('a credential $when is not copied', async ({ config, spec: wanted }) => {
  const { files, spec, report } = await convertFiles(
    {
      'promptfooconfig.json': {
        prompts: ['q'],
        providers: [
          {
            id: 'https://api.test/x',
            config: { body: { q: '{{prompt}}' }, transformResponse: 'json.text', ...config },
          },
        ],
        tests: [{ assert: [contains('x')] }],
      },
    },
    { lossy: true },
  );
  expect([...files.values()].join('')).not.toContain('abc-def');
  if (wanted !== undefined) expect(spec).toContain(wanted);
  expect(report.settings[0]!.verdict).toBe(wanted === undefined ? 'none' : 'close');
  expect(report.settings[0]!.why).toContain('not copied');
});

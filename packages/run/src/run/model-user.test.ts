import { readdirSync, readFileSync } from 'node:fs';
import type { UserWords } from '@agentci/capture';
import { limitedBudget } from '@agentci/judge';
import { SECRETS } from '@agentci/lib/secrets';
import { type ScriptedModel, startScriptedModel } from '@agentci/scripted-model';
import { parseSpec } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { maskTrace } from '@agentci/trace';
import { afterEach, describe, expect, test } from 'vitest';
import { secretsOfBrief } from './brief-secrets.ts';
import { UserModels, type UserTapeAccess } from './model-user.ts';
import type { AgentFunction } from './run-options.ts';
import { runSuite } from './run-suite.ts';

const open: ScriptedModel[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((model) => model.close()));
});

const spec = (url: string, user = '') => `
agent: shop
judge_config: {model: "openai-chat:gpt-4o-mini", base_url: "${url}", api_key_env: MY_KEY, retries: 0}
queries:
  - id: refund
    conversation:
      start: Hi, I want to return something.
      max_turns: 6
      user:
        persona: Polite and brief, answers only what is asked
        facts: {order: "42", item: desk lamp}
        goal: the desk lamp is refunded to the card
        goal_tool: refund${user}
    correctness: {not_in_answer: [SECRET-RUBRIC-WORD]}
    path: {max_tool_calls: 3}
`;

const says = (message: string, rest: object = {}) => ({
  text: JSON.stringify({ message, done: false, reason: 'next', uses: [], ...rest }),
});

/** Refunds after a "yes". */
const shop: AgentFunction = (message) => {
  const refund = { name: 'refund', args: {}, result: 'ok' };
  if (/^yes/i.test(message)) return { answer: 'Refunded.', tool_calls: [refund] };
  return {
    answer: /42/.test(message) ? 'Shall I refund the desk lamp?' : 'Which order?',
    tool_calls: [],
  };
};

async function talk(
  script: { text: string }[],
  { dir = tempDir(), agent = shop, user = '', mode = 'live' as const } = {},
) {
  const model = await startScriptedModel({ script });
  open.push(model);
  const { suite, diagnostics } = parseSpec(spec(model.url, user), { file: `${dir}/spec.yaml` });
  if (suite === undefined) throw new Error(JSON.stringify(diagnostics));
  const run = await runSuite({
    suite,
    runner: agent,
    retries: 0,
    judge: mode,
    env: { MY_KEY: 'k' },
    timeoutMs: 3000,
  });
  return { run, result: run.results[0]!, requests: model.requests };
}

const GOOD = [
  says('Order 42.', { uses: ['order'] }),
  says('Yes, please.', { done: true, reason: 'goal reached' }),
];

describe('a user played by a model', () => {
  test('talks until it is done, and the agent answers its last message', async () => {
    const { run, result, requests } = await talk(GOOD);
    expect(result.status).toBe('pass');
    expect(result.conversation).toMatchObject({
      ending: 'user_done',
      turns: [
        { user: 'Hi, I want to return something.' },
        { user: 'Order 42.' },
        { user: 'Yes, please.', tools: ['refund'] },
      ],
    });
    expect(run.user).toMatchObject({ calls: 2 });
    expect(run.judge.calls).toBe(0);
    const sent = JSON.stringify(requests.map(({ body }) => body));
    expect(sent).toContain('desk lamp');
    expect(sent).not.toContain('SECRET-RUBRIC-WORD');
    expect(sent).not.toContain('max_tool_calls');
  });

  test('its words are kept, so the conversation repeats without a model', async () => {
    const dir = tempDir();
    const model = await startScriptedModel({ script: GOOD });
    open.push(model);
    const { suite } = parseSpec(spec(model.url), { file: `${dir}/spec.yaml` });
    const once = () =>
      runSuite({ suite: suite!, runner: shop, judge: 'live', env: { MY_KEY: 'k' } });
    const first = await once();
    for (let i = 0; i < 10; i++) {
      const again = await once();
      expect(
        again.results[0]!.conversation?.turns.map(({ user, answer }) => [user, answer]),
      ).toEqual(first.results[0]!.conversation?.turns.map(({ user, answer }) => [user, answer]));
      expect(again.user).toMatchObject({ calls: 0, cached: 2 });
    }
    expect(model.requests).toHaveLength(2);
  });

  test.each([
    {
      fault: 'answers as the agent',
      script: [says('How can I help you today?')],
      message: /answers as the agent/,
    },
    { fault: 'makes up an id', script: [says('Order 4711.')], message: /states "4711"/ },
    {
      fault: 'makes up a date',
      script: [says('I bought it on 2024-05-01.')],
      message: /states "2024-05-01"/,
    },
    {
      fault: 'uses a fact it does not have',
      script: [says('My card.', { uses: ['card'] })],
      message: /does not have: "card"/,
    },
    {
      fault: 'repeats its brief',
      script: [says('I want that the desk lamp is refunded to the card')],
      message: /repeats its brief/,
    },
    {
      fault: 'goes round in circles',
      script: [says('Hello?'), says('Hello?'), says('Hello?')],
      message: /the same 3 times/,
    },
    {
      fault: 'is done before the tool ran',
      script: [says('Thanks, bye.', { done: true })],
      message: /before refund had run/,
    },
    {
      fault: 'lacks a fact',
      script: [says('No idea.', { reason: 'out_of_scope: the colour' })],
      message: /says nothing about the colour/,
    },
    { fault: 'says nothing', script: [says(' '), says('')], message: /"message" is not a text/ },
    {
      fault: 'says nothing that can be seen',
      script: [says('\u200b\u2060'), says('\u00ad')],
      message: /nothing but invisible characters/,
    },
    {
      fault: 'says two things at once',
      script: Array(2).fill({
        text: '{"message": "Hi", "message": "Order 42.", "done": false, "reason": "", "uses": []}',
      }),
      message: /the key "message" twice/,
    },
    {
      fault: 'offers the help that the agent should',
      script: [says("I've issued the refund. Is there anything else I can help with?")],
      message: /answers as the agent/,
    },
    {
      fault: 'does not say whether it is done',
      script: [{ text: '{"message": "Hi"}' }, { text: '{"message": "Hi", "done": "no"}' }],
      message: /"done" is not true or false/,
    },
    {
      fault: 'does not give the form asked for',
      script: [{ text: 'sure' }, { text: 'sure' }],
      message: /no usable reply/,
    },
  ])('that $fault is to blame itself, and the agent is not judged', async ({ script, message }) => {
    const { result, run } = await talk(script);
    expect(result).toMatchObject({
      status: 'error',
      error: { kind: 'simulator', message: expect.stringMatching(message) },
      conversation: { blame: 'user' },
    });
    expect(run.summary.exit_code).toBe(2);
  });

  test('that never finishes ends with max_turns, and the conversation is judged', async () => {
    const script = Array.from({ length: 5 }, (_, i) => says(`Hm, ${'really '.repeat(i + 1)}?`));
    const { result, requests } = await talk(script);
    expect(result.conversation).toMatchObject({ ending: 'max_turns' });
    expect(result.conversation?.blame).toBeUndefined();
    expect(result.conversation?.turns).toHaveLength(6);
    expect(result.status).toBe('pass');
    expect(requests).toHaveLength(5);
  });

  test('that is done in its first reply is still answered', async () => {
    const { result } = await talk([says('Yes, refund order 42.', { done: true, uses: ['order'] })]);
    expect(result.conversation?.turns.at(-1)).toMatchObject({
      user: 'Yes, refund order 42.',
      answer: 'Refunded.',
    });
    expect(result).toMatchObject({ status: 'pass', conversation: { ending: 'user_done' } });
  });

  test.each([
    { how: 'with a label', message: 'It is order-42.' },
    { how: 'with a sign', message: 'Order #42, please.' },
    { how: 'with a full stop', message: 'Order 42.' },
  ])('may write a fact $how', async ({ message }) => {
    const { result } = await talk([
      says(message, { uses: ['order'] }),
      says('Yes.', { done: true }),
    ]);
    expect(result.status).toBe('pass');
  });

  test('what the agent said may be repeated: it is not made up', async () => {
    const agent: AgentFunction = (message) =>
      /^yes/i.test(message)
        ? shop(message, {} as never)
        : { answer: 'Is it case 9981?', tool_calls: [] };
    const { result } = await talk([says('Case 9981, right.'), says('Yes.', { done: true })], {
      agent,
    });
    expect(result.status).toBe('pass');
  });

  test('without a key it cannot be played', async () => {
    const { suite } = parseSpec(spec('http://127.0.0.1:9'), { file: `${tempDir()}/spec.yaml` });
    const { results } = await runSuite({ suite: suite!, runner: shop, env: {} });
    expect(results[0]).toMatchObject({ status: 'error', error: { kind: 'simulator' } });
    expect(results[0]!.conversation?.blame).toBeUndefined();
  });

  test.each([
    { what: 'failed', call: { error: 'the card was refused' }, status: 'error' },
    { what: 'worked', call: { result: 'ok' }, status: 'pass' },
  ])('that is done after a call of its tool that $what gives $status', async ({ call, status }) => {
    const agent: AgentFunction = () => ({
      answer: 'Refunded.',
      tool_calls: [{ name: 'refund', args: {}, ...call }],
    });
    const { result } = await talk([says('Thanks.', { done: true })], { agent });
    expect(result.status).toBe(status);
    if (status === 'error')
      expect(result.error?.message).toMatch(/before refund had run: every call of it failed/);
  });

  test('that must not end the conversation does not: the agent has to', async () => {
    const dir = tempDir();
    const model = await startScriptedModel({ script: GOOD });
    open.push(model);
    const text = spec(model.url).replace(
      'max_turns: 6',
      'max_turns: 6\n      end: {user_done: false, agent_tool: transfer}',
    );
    const { suite } = parseSpec(text, { file: `${dir}/spec.yaml` });
    const { results } = await runSuite({
      suite: suite!,
      runner: shop,
      retries: 0,
      env: { MY_KEY: 'k' },
    });
    expect(results[0]).toMatchObject({ status: 'error', conversation: { ending: 'user_done' } });
    expect(results[0]!.correctness.checks.find(({ id }) => id === 'correctness.end')).toMatchObject(
      {
        status: 'error',
      },
    );
  });

  test('without stored messages reports that specifically', async () => {
    const { result } = await talk([], { mode: 'recorded' as never });
    expect(result.error?.message).toMatch(
      /no reply of the simulated user to message 2 by .*gpt-4o-mini is stored, and --judge recorded makes no calls; run once with --judge live/,
    );
    expect(result.error?.message).not.toMatch(/verdict/);
  });

  const seedsOf = async (seed: number) => {
    const model = await startScriptedModel({
      script: Array.from({ length: 6 }, () => says('Yes.', { done: true })),
    });
    open.push(model);
    const { suite } = parseSpec(spec(model.url), { file: `${tempDir()}/spec.yaml` });
    await runSuite({
      suite: suite!,
      runner: shop,
      retries: 0,
      runs: 3,
      workers: 1,
      seed,
      env: { MY_KEY: 'k' },
    });
    return model.requests.map(({ body }) => {
      const { seed: sent, messages } = body as { seed: number; messages: { content: string }[] };
      const text = JSON.stringify(messages);
      return `${sent} ${/tone: [a-z ]+; length: [a-z ]+/.exec(text)?.[0] ?? 'as written'}`;
    });
  };

  test('is another in every repeat, and the same in the same repeat', async () => {
    const first = await seedsOf(0);
    expect(new Set(first).size).toBe(3);
    expect(first[0]).toBe('0 as written');
    expect(await seedsOf(0)).toEqual(first);
    expect(await seedsOf(7)).not.toEqual(first);
  });

  const KEY = 'sk-ant-api03-Zx81mQpLr0TgHv5nWc2yBd7kJf9sEa3u';
  test.each([
    {
      what: 'a fact in the form of a secret',
      facts: `{order: "42", item: desk lamp, key: ${KEY}}`,
      value: KEY,
      mark: '[user.key]',
    },
    {
      what: 'a fact with the name of a secret',
      facts: '{order: "42", item: desk lamp, password: blue-horse-77}',
      value: 'blue-horse-77',
      mark: '[user.password]',
    },
  ])(
    'says a secret of the brief and does not leave it behind: $what',
    async ({ facts, value, mark }) => {
      const dir = tempDir();
      const model = await startScriptedModel({
        script: [says(`It is ${value}.`), says('Yes.', { done: true })],
      });
      open.push(model);
      const text = spec(model.url).replace('{order: "42", item: desk lamp}', facts);
      const { suite } = parseSpec(text, { file: `${dir}/spec.yaml` });
      const heard: string[] = [];
      const traces: string[] = [];
      const once = () =>
        runSuite({
          suite: suite!,
          runner: (message, input) => {
            heard.push(message);
            return shop(message, input);
          },
          env: { MY_KEY: 'k' },
          judgeCacheDir: `${dir}/cache`,
          sink: {
            record: (record, trace) =>
              void traces.push(JSON.stringify([record, trace && maskTrace(trace)])),
          },
        });
      const { results } = await once();
      expect(heard[1]).toBe(`It is ${value}.`);
      expect(results[0]!.status).toBe('pass');
      const stored = readdirSync(`${dir}/cache`, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8'))
        .join('\n');
      expect(stored).toContain(mark);
      expect(`${stored}${traces.join('')}`).not.toContain(value);
      // The second run reads the reply from the cassette and says it again.
      heard.length = 0;
      await once();
      expect(heard[1]).toBe(`It is ${value}.`);
      expect(model.requests).toHaveLength(2);
    },
  );

  test('keeps a secret of its brief out of the cassette, and says it again from there', async () => {
    const model = await startScriptedModel({ script: [says(`It is ${KEY}.`)] });
    open.push(model);
    const text = spec(model.url).replace('item: desk lamp', `item: desk lamp, key: ${KEY}`);
    const { suite } = parseSpec(text, { file: `${tempDir()}/spec.yaml` });
    const plan = suite!.queries[0]!.conversation!.user!;
    SECRETS.add(secretsOfBrief(plan));
    const words: UserWords[] = [];
    const tape: UserTapeAccess = {
      take: () => (words[0] === undefined ? { kind: 'ask' } : { kind: 'known', words: words[0] }),
      keep: (each) => words.push(each),
    };
    const users = new UserModels(
      { suite: suite!, env: { MY_KEY: 'k' }, judgeCacheDir: tempDir() },
      limitedBudget(1),
    );
    const history = [
      { role: 'user' as const, content: 'Hi' },
      { role: 'assistant' as const, content: 'Which key?' },
    ];
    for (const _ of ['asked', 'from the cassette'])
      expect(await users.next(plan, { history, start: 'Hi', run: 1, tape })).toMatchObject({
        message: `It is ${KEY}.`,
      });
    expect(JSON.stringify(words)).toContain('[user.key]');
    expect(JSON.stringify(words)).not.toContain(KEY);
    expect(model.requests).toHaveLength(1);
  });
});

test('a model that refuses to play the user is not called the judge', async () => {
  const { result } = await talk([{ refusal: 'I cannot do that.' } as unknown as { text: string }]);
  expect(result.error?.message).toContain(
    'the model refused to give the reply of the simulated user',
  );
});

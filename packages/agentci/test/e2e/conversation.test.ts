import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ScriptedModel,
  type ScriptedRequest,
  startScriptedModel,
} from '@agentci/scripted-model';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterEach, describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const KEY = 'sk-test-0123456789abcdefghij';

/** Prints its model's text, and makes a refund on request. */
const AGENT = `
export default async function agent(message, { messages }) {
  const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'system', content: 'Shop.' }, ...messages] }),
  });
  const body = await reply.json();
  if (!reply.ok) throw new Error(body.error.message);
  return body.choices[0].message.content;
}
`;

const spec = (url: string, goal = 'the desk lamp is refunded to the card') => `
agent: shop
runner: {module: ./agent.mjs}
judge_config: {model: "openai-chat:gpt-4o-mini", base_url: "${url}", retries: 0, cache: false}
cassette: {dir: ./cassettes}
queries:
  - id: refund
    conversation:
      start: Hi, I want to return something.
      max_turns: 6
      user:
        facts: {order: "42"}
        goal: ${goal}
    correctness: {expected_in_answer: [refunded]}
`;

/** One model for both roles: the user's prompt has a brief. */
function script({ messages }: ScriptedRequest) {
  const all = messages.map(({ text }) => text).join('\n');
  const user = (message: string, done = false) => ({
    text: JSON.stringify({ message, done, reason: 'next', uses: [] }),
  });
  if (all.includes('The data ends here'))
    return all.includes('Shall I') ? user('Yes, please.', true) : user('Order 42.');
  const last = messages.at(-1)?.text ?? '';
  if (last.startsWith('Yes')) return { text: 'Your lamp is refunded.' };
  return { text: last.includes('42') ? 'Shall I refund the lamp?' : 'Which order?' };
}

const open: ScriptedModel[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((model) => model.close()));
});

async function shop() {
  const model = await startScriptedModel({ script });
  open.push(model);
  const cwd = tempDir();
  writeFileSync(join(cwd, 'agent.mjs'), AGENT);
  writeFileSync(join(cwd, 'agentci_spec.yaml'), spec(model.url));
  const live = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url };
  const run = async (args: string[], env: Record<string, string> = {}) => {
    const { code, stdout } = await cli(['test', '-f', 'json', ...args], { cwd, env });
    return { code, report: JSON.parse(stdout), requests: model.requests.length };
  };
  return { cwd, model, live, run, tape: join(cwd, 'cassettes', 'shop', 'refund.jsonl') };
}

type Report = { results: { conversation: { turns: { user: string; answer: string }[] } }[] };
const said = ({ results }: Report) =>
  results[0]!.conversation.turns.map(({ user, answer }) => [user, answer]);

describe('a conversation with a model for its user, from a cassette', () => {
  test('repeats whole without a key, the same each time', async () => {
    const { run, live, tape, model } = await shop();
    const recorded = await run(['--cassette', 'record'], live);
    expect(recorded).toMatchObject({ code: 0, requests: 5 });
    const lines = readFileSync(tape, 'utf8').trim().split('\n');
    expect(JSON.parse(lines[0]!)).toMatchObject({ exchanges: 3, user_replies: 2 });
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      user: 2,
      reply: { message: 'Yes, please.', done: true },
    });
    expect(lines.join()).not.toContain(KEY);
    await model.close();
    for (let i = 0; i < 5; i++) {
      const replayed = await run(['--cassette', 'replay']);
      expect(replayed.code).toBe(0);
      expect(said(replayed.report)).toEqual(said(recorded.report));
      expect(replayed.report).toMatchObject({
        cassette: { hits: 3, user_hits: 2, misses: 0, isolated: true },
      });
      expect(replayed.report.user).toBeUndefined();
    }
  });

  test.each([
    {
      when: 'the brief is another',
      change: (text: string) => text.replace('to the card', 'to the account'),
      words: /what the user says after 2 messages/,
    },
    {
      when: 'the model of the user is another',
      change: (text: string) => text.replace('chat:gpt-4o-mini', 'chat:gpt-4o'),
      words: /the model of the user/,
    },
  ])('is a miss where $when, and nobody is asked', async ({ change, words }) => {
    const { cwd, run, live, model } = await shop();
    await run(['--cassette', 'record'], live);
    writeFileSync(join(cwd, 'agentci_spec.yaml'), change(spec(model.url)));
    const { code, report, requests } = await run(['--cassette', 'replay'], live);
    expect({ code, requests }).toEqual({ code: 2, requests: 5 });
    expect(report.results[0].error).toMatchObject({
      kind: 'cassette_miss',
      message: expect.stringMatching(words),
    });
    // The agent's calls were replayed, but the run did not come from the cassette alone.
    expect([report.results[0].cassette.isolated, report.cassette.isolated]).toEqual([false, false]);
  });

  test('is a miss if the cassette was recorded without the user', async () => {
    const { run, live, tape } = await shop();
    await run(['--cassette', 'record'], live);
    const [head, ...lines] = readFileSync(tape, 'utf8').trim().split('\n');
    const { user_replies: _, ...rest } = JSON.parse(head!);
    writeFileSync(tape, `${[JSON.stringify(rest), ...lines.slice(0, 3)].join('\n')}\n`);
    const { code, report } = await run(['--cassette', 'replay'], live);
    expect(code).toBe(2);
    expect(report.results[0].error.message).toContain('does not hold the words of the user');
  });

  test('in auto mode only new calls are made and added', async () => {
    const { cwd, run, live, tape, model } = await shop();
    const first = await run(['--cassette', 'auto'], { ...live, CI: '' });
    expect(first).toMatchObject({ code: 0, requests: 5 });
    expect((await run(['--cassette', 'auto'], { ...live, CI: '' })).requests).toBe(5);
    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      spec(model.url, 'the desk lamp is refunded to the account'),
    );
    // The user's model is called again with the same result, so the agent's calls are in the
    // cassette.
    expect(await run(['--cassette', 'auto'], { ...live, CI: '' })).toMatchObject({
      code: 0,
      requests: 7,
    });
    expect(JSON.parse(readFileSync(tape, 'utf8').split('\n')[0]!)).toMatchObject({
      exchanges: 3,
      user_replies: 4,
    });
  });
});

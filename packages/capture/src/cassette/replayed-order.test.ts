import { startChaos } from '@agentci/testing/chaos-upstream';
import { ask, withTape } from '@agentci/testing/recorded-agent';
import type { Trace } from '@agentci/trace';
import { expect, onTestFinished, test } from 'vitest';
import type { CaptureSlot } from '../capture.ts';

const TURNS = 6;
const REPLAYS = 20;

interface Message {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly id: string }[];
}

/**
 * Requests a tool in every turn but the last. The tool is named after its conversation and turn.
 */
function replyTo(messages: readonly Message[]): object {
  const name = messages[0]!.content ?? '';
  const turn = messages.filter(({ role }) => role === 'tool').length;
  const tool_calls = [
    {
      id: `${name}-${turn}`,
      type: 'function',
      function: { name: `${name}${turn}`, arguments: '{}' },
    },
  ];
  const isOver = turn === TURNS;
  return {
    id: `${name}-${turn}`,
    object: 'chat.completion',
    model: 'm',
    choices: [
      {
        index: 0,
        message: isOver
          ? { role: 'assistant', content: 'Done.' }
          : { role: 'assistant', content: null, tool_calls },
        finish_reason: isOver ? 'stop' : 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/**
 * One conversation of a client without an SDK: it sends the next request as soon as the reply
 * arrives.
 */
async function converse(slot: CaptureSlot, name: string): Promise<void> {
  const messages: Message[] = [{ role: 'user', content: name }];
  for (;;) {
    const { chunks } = await ask(
      `${slot.env.OPENAI_BASE_URL}/chat/completions`,
      JSON.stringify({ model: 'm', messages }),
    );
    const { message } = JSON.parse(Buffer.concat(chunks).toString()).choices[0];
    messages.push(message);
    if (message.tool_calls === undefined) return;
    for (const { id } of message.tool_calls)
      messages.push({ role: 'tool', content: 'ok', tool_call_id: id } as Message);
  }
}

const stepsOf = ({ steps }: Trace): string[] =>
  steps.map((step) => (step.kind === 'tool' ? step.name : step.kind));

test('replays show the steps of the recording, with any timing', async () => {
  const upstream = await startChaos((request, response) => {
    const { messages } = JSON.parse(request.body) as { messages: Message[] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(replyTo(messages)));
  });
  onTestFinished(() => upstream.close());
  const env = { OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: `${upstream.url}/v1` };
  const recorded = await withTape('record', { env }, async (slot) => {
    await converse(slot, 'a');
    await converse(slot, 'b');
  });
  const expected = ['a', 'b'].flatMap((name) => [
    ...Array.from({ length: TURNS }, (_, turn) => ['llm', `${name}${turn}`]).flat(),
    'llm',
  ]);
  expect(stepsOf(recorded.seen.trace!)).toEqual(expected);
  for (let i = 0; i < REPLAYS; i++) {
    const names = i % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
    const replayed = await withTape('replay', { env: {}, cassette: recorded.cassette }, (slot) =>
      Promise.all(names.map((name) => converse(slot, name))),
    );
    expect(stepsOf(replayed.seen.trace!)).toEqual(expected);
  }
});

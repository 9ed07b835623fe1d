import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Behaviour, slowly, startChaos } from '@agentci/testing/chaos-upstream';
import { ask, type TapedOptions, withTape } from '@agentci/testing/recorded-agent';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CaptureSlot } from '../capture.ts';

const KEY = 'sk-test-0123456789abcdefghij';
const CHAT = '/chat/completions';
const body = (content: string, more: object = {}): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more });

const said = (text: string): string =>
  JSON.stringify({
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  });

/** Records a task with a scripted provider, then repeats it without the provider. */
async function recordAndReplay<T>(
  behave: Behaviour,
  work: (slot: CaptureSlot) => Promise<T>,
  options: TapedOptions = {},
) {
  const upstream = await startChaos(behave);
  const env = {
    PATH: process.env.PATH,
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${upstream.url}/v1`,
  };
  const recorded = await withTape('record', { env, options }, work).finally(() => upstream.close());
  const asked = upstream.requests.length;
  const replayed = await withTape(
    'replay',
    { env: { PATH: process.env.PATH }, cassette: recorded.cassette, options },
    work,
  );
  expect(upstream.requests).toHaveLength(asked);
  return { recorded, replayed };
}

const base = (slot: CaptureSlot): string => slot.set.OPENAI_BASE_URL!;
const json: Behaviour = ({ body: sent }, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(said(`about ${sent.length}`));
};

describe('numbers match only if they are exactly equal', () => {
  const tool = (id: string): string =>
    `{"model":"m","messages":[{"role":"tool","content":{"id":${id}}}]}`;
  it.each([
    ['9007199254740993', '9007199254740992', false],
    ['9007199254740993', '"9007199254740993"', false],
    ['9007199254740993', '{"$number":"9007199254740993"}', false],
    ['0.1234567890123456789', '0.1234567890123456780', false],
    ['1e400', '2e400', false],
    ['9007199254740993', '9007199254740993', true],
    ['100', '1.0e2', true],
  ])('recorded %s, asked %s: the same is %s', async (recorded, asked, isSame) => {
    const upstream = await startChaos(json);
    const env = {
      PATH: process.env.PATH,
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: `${upstream.url}/v1`,
    };
    const made = await withTape('record', { env }, (slot) =>
      ask(base(slot) + CHAT, tool(recorded)),
    );
    await upstream.close();
    expect(made.text).toContain(recorded);
    const replayed = await withTape('replay', { env: {}, cassette: made.cassette }, (slot) =>
      ask(base(slot) + CHAT, tool(asked)),
    );
    expect(replayed.session.counts()).toMatchObject(
      isSame ? { hits: 1, misses: 0 } : { hits: 0, misses: 1 },
    );
    if (!isSame) expect(replayed.session.missText).toContain('/messages/0/content/id');
  });
});

describe('what the agent gets in replay is what it got when recorded', () => {
  const chunks = [
    'data: {"choices":[{"delta":{"content":"Grö',
    'ße 😀"}}]}\n\n',
    'data: [DONE]\n\n',
  ];
  const cut = Buffer.from(chunks.join(''));
  it.each<[string, Behaviour, string]>([
    ['a document', json, body('x')],
    [
      'a stream',
      slowly(chunks, 15),
      body('x', { stream: true, stream_options: { include_usage: true } }),
    ],
    [
      'a stream cut in the middle of a character',
      slowly([cut.subarray(0, 41), cut.subarray(41)], 15),
      body('x', { stream: true, stream_options: { include_usage: true } }),
    ],
    [
      'a packed reply',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(said('packed')));
      },
      body('x'),
    ],
    [
      'bytes that are not text',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/octet-stream' });
        response.end(Buffer.from([0, 255, 254, 128, 1]));
      },
      body('x'),
    ],
    [
      'an empty reply',
      (_, response) => {
        response.writeHead(204);
        response.end();
      },
      body('x'),
    ],
    [
      'a mistake of the client',
      (_, response) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end('{"error": {"message": "no such model"}}');
      },
      body('x'),
    ],
    ['a request that is not JSON', json, 'plain words'],
  ])('%s', async (_, behave, sent) => {
    const { recorded, replayed } = await recordAndReplay(behave, (slot) =>
      ask(base(slot) + CHAT, sent),
    );
    expect(replayed.value.status).toBe(recorded.value.status);
    expect(replayed.value.chunks).toEqual(recorded.value.chunks);
    expect(replayed.value.headers['content-type']).toBe(recorded.value.headers['content-type']);
    expect(replayed.session.counts()).toEqual({
      hits: 1,
      misses: 0,
      scrubbed: 0,
      unused: 0,
      asked: 0,
    });
    expect(recorded.text).not.toContain(KEY);
  });

  it('also where usage was asked for on our account and hidden', async () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\n';
    const stream = [
      'data: {"choices":[{"delta":{"content":"hi"}}],"usage":null}\n\n',
      usage,
      'data: [DONE]\n\n',
    ];
    const { recorded, replayed } = await recordAndReplay(slowly(stream, 10), (slot) =>
      ask(base(slot) + CHAT, body('x', { stream: true })),
    );
    expect(Buffer.concat(recorded.value.chunks).toString()).not.toContain('prompt_tokens');
    expect(replayed.value.chunks).toEqual(recorded.value.chunks);
    const tokens = [recorded, replayed].map(({ seen }) =>
      seen.trace?.steps.flatMap((step) => (step.kind === 'llm' ? [step.usage] : [])),
    );
    expect(tokens[1]).toEqual(tokens[0]);
    // A client that requests usage gets it.
    const asks = body('x', { stream: true, stream_options: { include_usage: true } });
    const shown = await withTape('replay', { env: {}, cassette: recorded.cassette }, (slot) =>
      ask(base(slot) + CHAT, asks),
    );
    expect(Buffer.concat(shown.value.chunks).toString()).toContain('prompt_tokens');
  });

  it('a stream that the client gave up is given up again, and the trace reports both', async () => {
    const { recorded, replayed } = await recordAndReplay(
      async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"choices":[{"delta":{"content":"one"}}]}\n\n');
      },
      async (slot) => {
        const sent = httpRequest(base(slot) + CHAT, { method: 'POST' });
        sent.on('error', () => {});
        sent.end(body('x', { stream: true, stream_options: { include_usage: true } }));
        const [reply] = (await once(sent, 'response')) as [IncomingMessage];
        reply.on('error', () => {});
        const [first] = (await once(reply, 'data')) as [Buffer];
        sent.destroy();
        return first.toString();
      },
    );
    expect(replayed.value).toBe(recorded.value);
    expect(replayed.seen.evidence.exchanges.map(({ why }) => why)).toEqual(['client_abort']);
    expect(replayed.seen.trace?.captured).toEqual(recorded.seen.trace?.captured);
  });

  it('an agent that reads past the point of a recorded hang-up is disconnected with a report, not kept waiting', async () => {
    const upstream = await startChaos((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
    });
    onTestFinished(() => upstream.close());
    const env = {
      PATH: process.env.PATH,
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: `${upstream.url}/v1`,
    };
    const sent = body('x', { stream: true, stream_options: { include_usage: true } });
    const open = async (slot: CaptureSlot): Promise<IncomingMessage> => {
      const request = httpRequest(base(slot) + CHAT, { method: 'POST' });
      request.on('error', () => {});
      request.end(sent);
      const [reply] = (await once(request, 'response')) as [IncomingMessage];
      reply.on('error', () => {});
      await once(reply, 'data');
      return reply;
    };
    const recorded = await withTape('record', { env }, async (slot) =>
      (await open(slot)).destroy(),
    );
    const started = performance.now();
    const replayed = await withTape(
      'replay',
      { env: {}, cassette: recorded.cassette },
      async (slot) => {
        const reply = await open(slot);
        await new Promise((resolve) => reply.once('close', resolve));
        return reply.complete;
      },
    );
    expect(replayed.value).toBe(false);
    expect(performance.now() - started).toBeLessThan(4000);
    expect(replayed.session.missText).toContain('reads on past the end of exchange 1');
  });

  it('equal requests get their answers in order, one after the other and side by side', async () => {
    let count = 0;
    const { recorded, replayed } = await recordAndReplay(
      (_, response) => void response.end(said(`answer ${++count}`)),
      async (slot) => {
        const one = async (): Promise<string> =>
          Buffer.concat((await ask(base(slot) + CHAT, body('same'))).chunks).toString();
        const first = [await one(), await one()];
        return [...first, ...(await Promise.all([one(), one(), one()])).sort()];
      },
    );
    expect(new Set(recorded.value).size).toBe(5);
    expect(replayed.value).toEqual(recorded.value);
  });

  it('a retry after a rate limit: the answer is stored, the rate limit is not', async () => {
    let count = 0;
    const upstream = await startChaos((_, response) => {
      response.writeHead(++count === 1 ? 429 : 200, { 'retry-after': '0' });
      response.end(said('late'));
    });
    onTestFinished(() => upstream.close());
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${upstream.url}/v1` };
    const recorded = await withTape('record', { env }, async (slot) => {
      const first = await ask(base(slot) + CHAT, body('x'));
      return [first.status, (await ask(base(slot) + CHAT, body('x'))).status];
    });
    expect(recorded.value).toEqual([429, 200]);
    expect(recorded.cassette!.entries.map(({ status }) => status)).toEqual([200]);
    const replayed = await withTape(
      'replay',
      { env: {}, cassette: recorded.cassette },
      async (slot) => (await ask(base(slot) + CHAT, body('x'))).status,
    );
    expect(replayed.value).toBe(200);
  });

  it('other calls of a provider too: a list of models, with a key in its address', async () => {
    const { recorded, replayed } = await recordAndReplay(json, (slot) =>
      ask(`${base(slot)}/models?key=${KEY}&limit=2`, '', { method: 'GET' }),
    );
    expect(replayed.value.chunks).toEqual(recorded.value.chunks);
    expect(recorded.text).not.toContain(KEY);
  });

  it('a request that came packed', async () => {
    const { recorded, replayed } = await recordAndReplay(json, (slot) =>
      ask(base(slot) + CHAT, gzipSync(body('packed')), { headers: { 'content-encoding': 'gzip' } }),
    );
    expect(replayed.value.chunks).toEqual(recorded.value.chunks);
    expect(recorded.text).toContain('"content":"packed"');
  });
});

describe('what the cassette does not have', () => {
  it('is refused with a status that no SDK tries again, in words that say what differs', async () => {
    const { recorded } = await recordAndReplay(json, (slot) =>
      ask(base(slot) + CHAT, body('Hello')),
    );
    const missed = await withTape('replay', { env: {}, cassette: recorded.cassette }, (slot) =>
      ask(base(slot) + CHAT, body('Goodbye')),
    );
    expect(missed.value.status).toBe(400);
    expect(missed.value.headers['x-should-retry']).toBe('false');
    const { error } = JSON.parse(Buffer.concat(missed.value.chunks).toString());
    expect(error).toMatchObject({
      type: 'cassette_miss',
      message: expect.stringContaining('recorded "Hello", asked "Goodbye"'),
    });
    expect(missed.session.counts()).toMatchObject({ hits: 0, misses: 1, unused: 1 });
  });

  it('a repeated request does not get the first answer for ever', async () => {
    const { recorded } = await recordAndReplay(json, (slot) => ask(base(slot) + CHAT, body('x')));
    const twice = async (slot: CaptureSlot) => [
      (await ask(base(slot) + CHAT, body('x'))).status,
      (await ask(base(slot) + CHAT, body('x'))).status,
    ];
    const { cassette } = recorded;
    expect((await withTape('replay', { env: {}, cassette }, twice)).value).toEqual([200, 400]);
    expect(
      (await withTape('replay', { env: {}, cassette, options: { repeatsLast: true } }, twice))
        .value,
    ).toEqual([200, 200]);
  });

  it('auto asks for it, stores it, and the next replay has both', async () => {
    const upstream = await startChaos(json);
    onTestFinished(() => upstream.close());
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${upstream.url}/v1` };
    const both = async (slot: CaptureSlot) =>
      [await ask(base(slot) + CHAT, body('a')), await ask(base(slot) + CHAT, body('b'))].map(
        ({ status }) => status,
      );
    const first = await withTape('auto', { env }, (slot) => ask(base(slot) + CHAT, body('a')));
    const second = await withTape('auto', { env, cassette: first.cassette }, both);
    expect(second.session.counts()).toEqual({
      hits: 1,
      misses: 0,
      scrubbed: 0,
      unused: 0,
      asked: 1,
    });
    expect(upstream.requests).toHaveLength(2);
    expect((await withTape('replay', { env: {}, cassette: second.cassette }, both)).value).toEqual([
      200, 200,
    ]);
  });

  it('a call that bypasses the front is blocked, and a call to a model is a miss', async () => {
    const { recorded } = await recordAndReplay(json, (slot) => ask(base(slot) + CHAT, body('x')));
    const through = async (slot: CaptureSlot, host: string): Promise<string> => {
      const proxy = new URL(slot.set.HTTPS_PROXY!);
      const socket = connect(Number(proxy.port), proxy.hostname);
      const auth = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64');
      socket.write(
        `CONNECT ${host} HTTP/1.1\r\nhost: ${host}\r\nproxy-authorization: Basic ${auth}\r\n\r\n`,
      );
      const [data] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return data.toString().split('\r\n')[0]!;
    };
    const replayed = await withTape(
      'replay',
      { env: {}, cassette: recorded.cassette },
      async (slot) => [
        await through(slot, 'weather.example.com:443'),
        await through(slot, 'api.anthropic.com:443'),
      ],
    );
    expect(replayed.value).toEqual(Array(2).fill('HTTP/1.1 403 blocked by agentci replay'));
    expect(replayed.session.blockedHosts).toEqual(['weather.example.com']);
    expect(replayed.session.missText).toBe(
      'the agent tried to reach api.anthropic.com past the cassette',
    );
  });

  it('replay sets keys that are none, and replaces a real one', async () => {
    const { recorded } = await recordAndReplay(json, (slot) => ask(base(slot) + CHAT, body('x')));
    const { value } = await withTape(
      'replay',
      { env: { OPENAI_API_KEY: KEY }, cassette: recorded.cassette },
      async ({ env }) => env.OPENAI_API_KEY,
    );
    expect(value).toBe('sk-agentci-replay-0000000000000000');
  });
});

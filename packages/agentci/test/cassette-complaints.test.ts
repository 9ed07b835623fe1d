import { gzipSync } from 'node:zlib';
import type { Cassette, CassetteEntry } from '@agentci/capture';
import {
  matchRules,
  missText,
  provenText,
  RecordedAnswers,
  readRequest,
  type StoredRequest,
} from '@agentci/capture';
import type { TapLine } from '@agentci/mcp';
import { CassettePlayer } from '@agentci/mcp';
import { servedCheck } from '@agentci/run';
import { type Behaviour, slowly, startChaos } from '@agentci/testing/chaos-upstream';
import { ask, type TapedOptions, withTape } from '@agentci/testing/recorded-agent';
import { describe, expect, it } from 'vitest';

// Complaints of users of other recorders, one test each, named after the complaint.

const CHAT = '/chat/completions';
const RULES = matchRules({ ignore: [], scrub: [] });
const raw = (body: Buffer | string): StoredRequest =>
  readRequest({ provider: 'openai', method: 'POST', path: CHAT, body: Buffer.from(body) });
const says = (content: string): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
const entry = (i: number, body: Buffer | string, reply = `answer ${i}`): CassetteEntry => ({
  ...raw(body),
  i,
  route: 'chat',
  status: 200,
  headers: {},
  chunks: [Buffer.from(reply)],
});
const given = (answers: RecordedAnswers, body: Buffer | string): string | undefined =>
  answers.take(raw(body))?.entry.chunks[0]?.toString();
const cassetteOf = (entries: readonly CassetteEntry[]): Cassette => ({
  agent: 'a',
  id: 'q',
  run: 1,
  recordedAt: '2026-11-17T09:00:00.000Z',
  tool: 'agentci',
  providers: { openai: {} },
  ignore: [],
  scrub: [],
  entries,
});

/** Records a series of replies, then replays them without the provider. */
async function recordAndReplay(
  behave: Behaviour,
  {
    recorded,
    replayed = recorded,
    options = {},
  }: { recorded: string[]; replayed?: string[]; options?: TapedOptions },
) {
  const upstream = await startChaos(behave);
  const env = {
    OPENAI_API_KEY: 'sk-test-0123456789abcdefghij',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
  };
  const all =
    (bodies: readonly string[]) =>
    async (slot: { readonly set: Readonly<Record<string, string>> }) => {
      const replies = [];
      for (const body of bodies) replies.push(await ask(slot.set.OPENAI_BASE_URL! + CHAT, body));
      return replies;
    };
  const tape = await withTape('record', { env, options }, all(recorded)).finally(() =>
    upstream.close(),
  );
  const replay = await withTape(
    'replay',
    { env: {}, cassette: tape.cassette, options },
    all(replayed),
  );
  return { tape, replay };
}
const echo: Behaviour = ({ body }, response) => void response.end(`got ${body.length}`);

describe('complaints about other recorders', () => {
  it('LiteLLM: a body of an unknown type is hashed as empty, and every other one matches it', () => {
    const answers = new RecordedAnswers(
      [entry(1, Buffer.from([0, 255, 1])), entry(2, 'a=1&b=2')],
      RULES,
    );
    expect([
      given(answers, Buffer.from([0, 255, 2])),
      given(answers, 'a=1&b=3'),
      given(answers, ''),
    ]).toEqual([undefined, undefined, undefined]);
    expect([given(answers, Buffer.from([0, 255, 1])), given(answers, 'a=1&b=2')]).toEqual([
      'answer 1',
      'answer 2',
    ]);
  });

  it('aimock: a fixture matches any request that contains its text', () => {
    const answers = new RecordedAnswers([entry(1, says('refund'))], RULES);
    expect(given(answers, says('no refund please'))).toBeUndefined();
  });

  it('aimock: recorder and matcher compute a field differently, so a file cannot be replayed', async () => {
    const bodies = [
      says('Größe 😀'),
      '{ "messages": [], "model": "m", "n": 1.0 }',
      '{"id":9007199254740993}',
    ];
    const { replay } = await recordAndReplay(echo, { recorded: bodies });
    expect(replay.session.counts()).toMatchObject({ hits: bodies.length, misses: 0 });
  });

  it('keploy: a repeated request gets the first answer for ever', () => {
    const answers = new RecordedAnswers([entry(1, says('again')), entry(2, says('again'))], RULES);
    const texts = [1, 2, 3].map(() => given(answers, says('again')));
    expect(texts).toEqual(['answer 1', 'answer 2', undefined]);
    expect(missText(answers.explain(raw(says('again'))), { file: 'q.jsonl', call: 3 })).toContain(
      'recorded 2 times',
    );
  });

  it('LibreChat: recorded calls that were never asked for go unnoticed', () => {
    const answers = new RecordedAnswers([entry(1, says('one')), entry(2, says('two'))], RULES);
    given(answers, says('two'));
    expect(answers.unused().map(({ i }) => i)).toEqual([1]);
  });

  it('demisto: that a recording cannot be played back is found out days later', () => {
    const unwritable = {
      ...entry(1, '{}'),
      body: { kind: 'json' as const, value: { temperature: Number.NaN } },
    };
    expect(() => provenText(cassetteOf([unwritable]), RULES, 'q.jsonl')).toThrow();
    expect(provenText(cassetteOf([entry(1, '{}')]), RULES, 'q.jsonl')).toContain('"exchanges":1');
  });

  it('neuro-san: throttled answers are stored and replayed', async () => {
    let count = 0;
    const throttled: Behaviour = (_, response) => {
      response.writeHead(++count === 1 ? 429 : 200, { 'retry-after': '0' });
      response.end(`try ${count}`);
    };
    const { tape } = await recordAndReplay(throttled, {
      recorded: [says('x'), says('x')],
      replayed: [says('x')],
    });
    expect(tape.cassette!.entries.map(({ status }) => status)).toEqual([200]);
  });

  it('neuro-san: a client tries a miss again and again', async () => {
    const { replay } = await recordAndReplay(echo, {
      recorded: [says('x')],
      replayed: [says('y')],
    });
    const [reply] = replay.value;
    expect([reply!.status, reply!.headers['x-should-retry']]).toEqual([400, 'false']);
  });

  it('mcpsnoop: repeated calls of a tool get one answer, under the id of the recorded caller', () => {
    const call = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 't', arguments: {} },
    });
    const line = (dir: TapLine['dir'], message: object): TapLine => ({ ts: '', dir, message });
    const answer = (id: number, n: number) => ({
      jsonrpc: '2.0',
      id,
      result: { n, extra: { kept: [1] } },
    });
    const player = new CassettePlayer([
      ...[
        line('c2s', call(1)),
        line('s2c', answer(1, 1)),
        line('c2s', call(2)),
        line('s2c', answer(2, 2)),
      ],
    ]);
    expect([player.answer(call(7)), player.answer(call(8))]).toEqual([answer(7, 1), answer(8, 2)]);
    expect(player.answer(call(9))).toMatchObject({
      id: 9,
      error: { message: expect.stringContaining('recorded 2') },
    });
  });

  it('cline: a mismatch does not show expected and actual', () => {
    const answers = new RecordedAnswers([entry(1, says('the old words'))], RULES);
    const text = missText(answers.explain(raw(says('the new words'))), {
      file: 'q.jsonl',
      call: 1,
    });
    expect(text).toContain('recorded "the old words", asked "the new words"');
  });

  it('waste collection schedule: replay accepts a changed body', async () => {
    const { replay } = await recordAndReplay(echo, {
      recorded: [says('a')],
      replayed: [says('b')],
    });
    expect(replay.session.counts()).toMatchObject({ hits: 0, misses: 1 });
  });

  it('vcrpy: a stream comes in one piece, or replay hangs', async () => {
    const pieces = ['data: one\n\n', 'data: two\n\n', 'data: [DONE]\n\n'];
    const body = JSON.stringify({
      model: 'm',
      messages: [],
      stream: true,
      stream_options: { include_usage: true },
    });
    const { tape, replay } = await recordAndReplay(slowly(pieces, 15), { recorded: [body] });
    expect(replay.value[0]!.chunks.map(String)).toEqual(pieces);
    expect(replay.value[0]!.chunks).toEqual(tape.value[0]!.chunks);
  });

  it('vcrpy: a packed reply is stored unpacked under its old header', async () => {
    const packed: Behaviour = (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync('{"ok":true}'));
    };
    const { tape, replay } = await recordAndReplay(packed, { recorded: [says('x')] });
    expect(replay.value[0]!.headers['content-encoding']).toBe(
      tape.value[0]!.headers['content-encoding'],
    );
    expect(replay.value[0]!.chunks).toEqual(tape.value[0]!.chunks);
  });

  it('aimock, dd-apm-test-agent: dates and ids make every run another request', async () => {
    const at = (date: string): string[] => [says(`today is ${date}`)];
    const asked = { recorded: at('2026-11-16'), replayed: at('2026-11-17') };
    const strict = await recordAndReplay(echo, asked);
    expect(strict.replay.session.missText).toContain('it would match with "scrub: [iso-date]"');
    const scrubbed = await recordAndReplay(echo, { ...asked, options: { scrub: ['iso-date'] } });
    expect(scrubbed.replay.session.counts()).toMatchObject({ hits: 1, misses: 0, scrubbed: 1 });
  });

  it('MockServer, aimock: assertions pass although nothing was compared', () => {
    const use = {
      mode: 'replay' as const,
      hits: 0,
      misses: 0,
      scrubbed: 0,
      unused: 0,
      isolated: false,
      planes: [],
    };
    expect(servedCheck(use)).toMatchObject([{ status: 'error' }]);
    expect(servedCheck({ ...use, hits: 1 })).toEqual([]);
  });
});

describe('a miss shows the differences', () => {
  const shown = (recorded: string, asked: string): string => {
    const answers = new RecordedAnswers([entry(1, recorded)], RULES);
    return missText(answers.explain(raw(asked)), { file: 'q.jsonl', call: 1 });
  };
  it.each([
    [
      'a field that is null and one that is absent',
      '{"seed":null}',
      '{}',
      'at /seed: recorded "null", asked nothing',
    ],
    [
      'a field that is absent and one that is null',
      '{}',
      '{"seed":null}',
      'at /seed: recorded nothing, asked "null"',
    ],
    [
      'an accent in two forms',
      says('caf\u00e9'),
      says('cafe\u0301'),
      'recorded "caf\u00e9" (U+00E9), asked "cafe\u0301" (U+0065 U+0301)',
    ],
    [
      'a number and its digits',
      '{"n":1}',
      '{"n":"1"}',
      'recorded "1" (a number), asked "1" (a string)',
    ],
    [
      'two large numbers',
      '{"n":9007199254740993}',
      '{"n":9007199254740992}',
      'recorded "9007199254740993", asked',
    ],
  ])('%s', (_, recorded, asked, expected) => {
    expect(shown(recorded, asked)).toContain(expected);
  });
});

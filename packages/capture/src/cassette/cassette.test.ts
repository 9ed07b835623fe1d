import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../exchange.ts';
import { matchRules, type StoredRequest } from './canonical.ts';
import type { Cassette, CassetteEntry } from './cassette.ts';
import { missText } from './miss-text.ts';
import { readCassette } from './read-cassette.ts';
import { provenText, recordEntries } from './record.ts';
import { RecordedAnswers } from './recorded-answers.ts';
import { writeCassette } from './write-cassette.ts';

const PLAIN = matchRules({ ignore: [], scrub: [] });

const asked = (value: unknown, path = '/v1/chat/completions'): StoredRequest => ({
  provider: 'openai',
  method: 'POST',
  path,
  body: { kind: 'json', value },
});

const entry = (i: number, value: unknown, reply = `{"answer":${i}}`): CassetteEntry => ({
  ...asked(value),
  i,
  route: 'chat',
  status: 200,
  headers: { 'content-type': 'application/json' },
  chunks: [Buffer.from(reply)],
});

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

const exchange = (given: Partial<Exchange>): Exchange => ({
  i: 1,
  at: 0,
  route: 'chat',
  provider: 'openai',
  method: 'POST',
  uri: 'http://x.test/v1/chat/completions',
  path: '/v1/chat/completions',
  request: Buffer.from('{"model":"m","messages":[]}'),
  status: 200,
  headers: { 'content-type': 'application/json' },
  chunks: [[1, Buffer.from('{"ok":true}')]],
  ttfbMs: 1,
  endMs: 2,
  complete: true,
  ...given,
});

const record = (exchanges: readonly Exchange[], rules = PLAIN, errors = false) =>
  recordEntries(exchanges, { rules, errors });

const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof UserError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
};

/** Thirty turns of a conversation, each request with all previous messages. */
function loop(turns: number): CassetteEntry[] {
  const messages: unknown[] = [{ role: 'system', content: 'S'.repeat(2000) }];
  return Array.from({ length: turns }, (_, at) => {
    messages.push({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: `turn ${at} ${'x'.repeat(100)}`,
    });
    return entry(at + 1, {
      model: 'm',
      tools: [{ name: 'T'.repeat(1000) }],
      messages: [...messages],
    });
  });
}

describe('the file of a cassette', () => {
  const json = fc.jsonValue({ maxDepth: 4 });

  it('preserves every request and every byte', () => {
    const anyEntry = fc.record({
      value: json,
      kind: fc.constantFrom('json', 'text'),
      chunks: fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 5 }),
    });
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 6 }), (given) => {
        const entries = given.map(
          ({ value, kind, chunks }, at): CassetteEntry => ({
            ...entry(at + 1, value),
            body:
              kind === 'json'
                ? { kind: 'json', value }
                : { kind: 'text', text: JSON.stringify(value) },
            chunks: chunks.map((bytes) => Buffer.from(bytes)),
          }),
        );
        const again = readCassette(writeCassette(cassetteOf(entries)), 'x');
        expect(again.entries.map(({ chunks }) => chunks)).toEqual(
          entries.map(({ chunks }) => chunks),
        );
        expect(again.entries.map((one) => PLAIN.canonical(one).key)).toEqual(
          entries.map((one) => PLAIN.canonical(one).key),
        );
      }),
    );
  });

  it('grows with new messages, not with their repetition: 60 turns are less than three times 20', () => {
    const size = (turns: number): number => writeCassette(cassetteOf(loop(turns))).length;
    expect(size(60)).toBeLessThan(3 * size(20));
    const lines = writeCassette(cassetteOf(loop(60)))
      .trim()
      .split('\n');
    expect(lines.at(-1)).toContain('"append":{"messages":{"keep":60,"add":[');
    expect(lines.at(-1)!.length).toBeLessThan(800);
  });

  it('is readable: a JSON reply is JSON, and a stream is its pieces', () => {
    const stream = {
      ...entry(2, { stream: true }),
      chunks: [Buffer.from('data: 1\n\n'), Buffer.from('data: [DONE]\n\n')],
    };
    const [, first, second] = writeCassette(cassetteOf([entry(1, { a: 1 }), stream])).split('\n');
    expect(first).toContain('"json":{"answer":1}');
    expect(second).toContain('"chunks":["data: 1\\n\\n","data: [DONE]\\n\\n"]');
  });

  const good = writeCassette(cassetteOf([entry(1, { a: 1 }), entry(2, { a: 2 })]));
  const lines = good.split('\n');
  it.each([
    ['an empty file', '', 'CASSETTE_DAMAGED: f:1'],
    ['a file cut in a line', good.slice(0, -20), 'CASSETTE_DAMAGED: f:3: the last line has no end'],
    [
      'a file cut between lines',
      `${lines.slice(0, 2).join('\n')}\n`,
      'announces 2 exchanges, one per line, and 1 line follows it: the file was cut short',
    ],
    [
      'a line too many',
      `${good}${lines[2]}\n`,
      'announces 2 exchanges, one per line, and 3 lines follow it: lines were added',
    ],
    ['a later version', good.replace('cassette/1', 'cassette/2'), 'CASSETTE_DAMAGED: f:1'],
    ['something else', '{"schema":"agentci.trace/1"}\n', 'CASSETTE_DAMAGED'],
    ['a log', 'hello\n', 'not the header'],
    ['merge conflicts', good.replace('\n', '\n<<<<<<< HEAD\n'), 'merge conflicts'],
    [
      'a broken line',
      good.replace('"method"', 'method'),
      'CASSETTE_DAMAGED: f:2: the line is not a JSON object',
    ],
    [
      'an unknown route',
      good.replace('"route":"chat"', '"route":"chut"'),
      'the route "chut" is not known',
    ],
    [
      'a status that is not one',
      good.replace('"status":200', '"status":"200"'),
      'the status of the response',
    ],
    [
      'a header that breaks lines',
      good.replace('application/json', 'a\\r\\nb'),
      'the headers of the response',
    ],
    ['a request changed by hand', good.replace('"a":2', '"a":3'), 'its key no longer fits it'],
    ['exchanges out of order', [lines[0], lines[2], lines[1], ''].join('\n'), '"i" should be 1'],
    [
      'a base that is not there',
      good.replace('{"body":{"a":2}}', '{"base":7}'),
      'builds on exchange 7',
    ],
  ])('refuses %s', (_, text, expected) => {
    expect(refusal(() => readCassette(text, 'f'))).toContain(expected);
  });

  it('takes a request changed by hand on purpose: without its key', () => {
    const text = good
      .replace('"a":2', '"a":3')
      .replace(
        /"key":"[0-9a-f]+",("provider":"openai","route":"chat","method":"POST","path":"[^"]+","request":\{"body":\{"a":3)/,
        '$1',
      );
    expect(readCassette(text, 'f').entries[1]!.body).toEqual({ kind: 'json', value: { a: 3 } });
  });
});

describe('matching', () => {
  const body = {
    model: 'm',
    temperature: 0.5,
    messages: [
      { role: 'system', content: 'You sell shoes. Today is 2026-11-17.' },
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', function: { name: 'find', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'none' },
    ],
    tools: [{ type: 'function', function: { name: 'find', description: 'Finds shoes' } }],
  };
  const edit = (from: string, to: string): unknown =>
    JSON.parse(JSON.stringify(body).replace(from, to));

  it.each([
    ['the order of keys', { ...Object.fromEntries(Object.entries(body).toReversed()) }],
    [
      'who the user is',
      { ...body, user: 'u-17', metadata: { session: 'x' }, safety_identifier: 'y' },
    ],
    ['the wish for usage', { ...body, stream_options: { include_usage: true } }],
  ])('does not depend on %s', (_, now) => {
    expect(new RecordedAnswers([entry(1, body)], PLAIN).take(asked(now))?.entry.i).toBe(1);
  });

  it.each([
    ['one word of the system prompt', edit('sell', 'buy'), 'system prompt', '/messages/0/content'],
    ["a tool's description", edit('Finds', 'Seeks'), 'tools', '/tools/0/function/description'],
    ['a tool more', { ...body, tools: [...body.tools, { name: 'new' }] }, 'tools', '/tools/1'],
    ['an earlier turn', edit('Hello', 'Hi'), 'earlier turn', '/messages/1/content'],
    ['the result of a tool', edit('none', 'two'), 'earlier turn', '/messages/3/content'],
    ['the temperature', { ...body, temperature: 0.6 }, 'parameters', '/temperature'],
    ['streaming', { ...body, stream: true }, 'parameters', '/stream'],
    ['the model', { ...body, model: 'n' }, 'model', '/model'],
    [
      'the cache control, which changes the cost',
      edit('"content":"Hello"', '"content":"Hello","cache_control":{}'),
      'earlier turn',
      '/messages/1/cache_control',
    ],
  ])('misses on %s and names the cause', (_, now, cause, pointer) => {
    const answers = new RecordedAnswers(
      [entry(1, body), entry(2, { model: 'z', messages: [] })],
      PLAIN,
    );
    expect(answers.take(asked(now))).toBeUndefined();
    const miss = answers.explain(asked(now));
    expect(miss).toMatchObject({ nearest: { i: 1 }, first: { cause, pointer } });
    expect(missText(miss, { file: 'f.jsonl', call: 3 })).toContain(
      `is the ${cause} at ${pointer}: recorded`,
    );
  });

  const turn = (role: string, content: unknown) => ({ role, content });
  it.each([
    ['the only message', { messages: [turn('system', 's'), turn('user', 'a')] }, 'user message'],
    [
      'the last message',
      { messages: [turn('user', 'x'), turn('assistant', 'y'), turn('user', 'a')] },
      'user message',
    ],
    ['a text alone', { input: 'a' }, 'user message'],
    ['parts of Gemini', { contents: [{ parts: [{ text: 'a' }] }] }, 'user message'],
    [
      'an earlier message',
      { messages: [turn('user', 'a'), turn('assistant', 'y'), turn('user', 'z')] },
      'earlier turn',
    ],
    [
      'a result of a tool',
      { messages: [turn('user', [{ type: 'tool_result', content: 'a' }])] },
      'earlier turn',
    ],
  ])('a change of %s is attributed to its author', (_, recorded, cause) => {
    const now = JSON.parse(JSON.stringify(recorded).replace('"a"', '"b"')) as object;
    const miss = new RecordedAnswers([entry(1, recorded)], PLAIN).explain(asked(now));
    expect(miss.first?.cause).toBe(cause);
  });

  it.each([
    ['a space of no width', 'a\u200bb', 'ab', 'U+200B U+0062', 'U+0062'],
    ['a mark at the end', 'ab', 'ab\ufeff', 'ends there', 'U+FEFF'],
    ['a turn of the direction', 'a\u202eb', 'a\u2066b', 'U+202E U+0062', 'U+2066 U+0062'],
    ['a soft hyphen before another difference', 'a\u00adb c', 'ab d', 'U+00AD', 'U+0062'],
    ['a tag', 'a\u{e0061}', 'a\u{e0062}', 'U+E0061', 'U+E0062'],
    ['an accent of its own', 'e\u0301', '\u00e9', 'U+0065 U+0301', 'U+00E9'],
  ])('shows %s by its code points', (_, recorded, now, before, after) => {
    const miss = new RecordedAnswers([entry(1, { input: recorded })], PLAIN).explain(
      asked({ input: now }),
    );
    const text = missText(miss, { file: 'f', call: 1 });
    expect(text).toContain(`recorded ${JSON.stringify(recorded)} (${before}`);
    expect(text).toContain(`asked ${JSON.stringify(now)} (${after}`);
  });

  it('names every cause there is', () => {
    const now = { ...(edit('sell', 'buy') as object), model: 'n', temperature: 1 };
    const text = missText(new RecordedAnswers([entry(1, body)], PLAIN).explain(asked(now)), {
      file: 'f',
      call: 1,
    });
    expect(text).toContain('is the model at /model: recorded "m", asked "n"');
    expect(text).toContain('also different: system prompt, parameters');
  });

  it.each([
    ['Gemini', '/v1beta/models/a:generateContent', '/v1beta/models/b:generateContent', 'model'],
    ['another endpoint', '/v1/chat/completions', '/v1/responses', 'endpoint'],
    ['another parameter of the address', '/v1/x?api-version=1', '/v1/x?api-version=2', 'endpoint'],
  ])('sees the model or the endpoint in the address: %s', (_, before, now, cause) => {
    const answers = new RecordedAnswers([{ ...entry(1, body), path: before }], PLAIN);
    expect(answers.take(asked(body, now))).toBeUndefined();
    expect(answers.explain(asked(body, now)).first?.cause).toBe(cause);
  });

  it('does not mind whether the base address ends with the version', () => {
    expect(
      new RecordedAnswers([entry(1, body)], PLAIN).take(asked(body, '/chat/completions')),
    ).toBeDefined();
  });

  it('never looks at the last message alone: the same words in another conversation are another request', () => {
    const other = {
      ...body,
      messages: [{ role: 'user', content: 'Bye' }, ...body.messages.slice(1)],
    };
    expect(new RecordedAnswers([entry(1, body)], PLAIN).take(asked(other))).toBeUndefined();
  });

  it('gives the nth equal request the nth answer, and says when they are used up', () => {
    const answers = new RecordedAnswers(
      [entry(1, body), entry(2, { x: 1 }), entry(3, body)],
      PLAIN,
    );
    expect([
      answers.take(asked(body))?.entry.i,
      answers.take(asked(body))?.entry.i,
      answers.take(asked(body)),
    ]).toEqual([1, 3, undefined]);
    expect(missText(answers.explain(asked(body)), { file: 'f', call: 3 })).toContain(
      'asked 3 times and recorded 2 times',
    );
    expect(answers.unused().map(({ i }) => i)).toEqual([2]);
  });

  it('repeats the last answer if requested, and keeps an entry that is only inspected', () => {
    const answers = new RecordedAnswers([entry(1, body), entry(2, body)], PLAIN, {
      repeatsLast: true,
    });
    expect(answers.take(asked(body), { keeps: true })?.entry.i).toBe(1);
    expect([1, 2, 3].map(() => answers.take(asked(body))?.entry.i)).toEqual([1, 2, 2]);
  });

  it.each([
    ['a name at the top', ['temperature'], { ...body, temperature: 1 }],
    ['a pointer', ['/messages/3/tool_call_id'], edit('"tool_call_id":"c1"', '"tool_call_id":"c9"')],
    [
      'a pointer with *',
      ['/messages/*/tool_call_id'],
      edit('"tool_call_id":"c1"', '"tool_call_id":"c9"'),
    ],
  ])('leaves out what "ignore" names: %s', (_, ignore, now) => {
    expect(new RecordedAnswers([entry(1, body)], PLAIN).take(asked(now))).toBeUndefined();
    expect(
      new RecordedAnswers([entry(1, body)], matchRules({ ignore, scrub: [] })).take(asked(now)),
    ).toBeDefined();
  });

  it.each([
    ['iso-date', 'at 2026-11-17T09:00:00.123Z', 'at 2026-11-18T10:11:12.999Z'],
    ['uuid', 'id 123e4567-e89b-12d3-a456-426614174000', 'id 00000000-e89b-12d3-a456-426614174000'],
    ['tmp-path', 'in /tmp/abc123/file.txt now', 'in /tmp/zzz999/file.txt now'],
    ['port', 'http://localhost:4312/x', 'http://localhost:55555/x'],
    ['epoch-ms', 'time 1763370000123', 'time 1763370999999'],
    ['/req-[0-9]+/', 'req-17', 'req-4711'],
  ])('scrubs %s on both sides, only when asked, and counts it', (name, before, now) => {
    const [was, is] = [before, now].map((content) => ({ messages: [{ content }] }));
    expect(new RecordedAnswers([entry(1, was)], PLAIN).take(asked(is))).toBeUndefined();
    const rules = matchRules({ ignore: [], scrub: [name] });
    expect(new RecordedAnswers([entry(1, was)], rules).take(asked(is))).toMatchObject({
      isScrubbed: true,
    });
    expect(new RecordedAnswers([entry(1, was)], rules).take(asked(was))).toMatchObject({
      isScrubbed: false,
    });
    if (!name.startsWith('/'))
      expect(
        missText(new RecordedAnswers([entry(1, was)], PLAIN).explain(asked(is)), {
          file: 'f',
          call: 1,
        }),
      ).toContain(`scrub: [${name}]`);
  });

  it('proposes no more patterns than are needed', () => {
    const was = { messages: [{ content: '2026-11-17 at http://localhost:1234' }] };
    const is = { messages: [{ content: '2026-11-18 at http://localhost:9999' }] };
    expect(new RecordedAnswers([entry(1, was)], PLAIN).explain(asked(is)).scrub).toEqual([
      'iso-date',
      'port',
    ]);
  });

  it('does not propose a pattern if something else differs too', () => {
    const was = { messages: [{ content: '2026-11-17 yes' }] };
    const is = { messages: [{ content: '2026-11-18 no' }] };
    expect(new RecordedAnswers([entry(1, was)], PLAIN).explain(asked(is)).scrub).toBeUndefined();
  });

  it('tells bodies apart that are not JSON', () => {
    const text = (words: string): StoredRequest => ({
      ...asked({}),
      body: { kind: 'text', text: words },
    });
    const answers = new RecordedAnswers(
      [{ ...entry(1, {}), body: { kind: 'text', text: 'a' } }],
      PLAIN,
    );
    expect(answers.take(text('b'))).toBeUndefined();
    expect(answers.take(text('a'))).toBeDefined();
  });
});

describe('recording', () => {
  const KEY = 'sk-test-0123456789abcdefghij';

  it.each([
    [200, true],
    [400, true],
    [404, true],
    [422, true],
    [401, false],
    [403, false],
    [408, false],
    [409, false],
    [429, false],
    [500, false],
    [503, false],
  ])('status %i is an answer: %s', (status, isKept) => {
    expect(refusal(() => record([exchange({ status })]))).toBe(
      isKept
        ? 'accepted'
        : `CASSETTE_INCOMPLETE: the recording was not kept: 1 of 1 calls got no answer that can be replayed (status ${status})`,
    );
    expect(record([exchange({ status })], PLAIN, true)).toHaveLength(1);
  });

  it.each([
    ['a rate limit', { status: 429 }, false, true],
    ['a reply that broke off', { complete: false, why: 'upstream_reset' as const }, false, false],
    [
      'a reply that broke off, with errors: true',
      { complete: false, why: 'upstream_reset' as const },
      true,
      false,
    ],
  ])('advises "errors: true" only if that would keep %s', (_, given, errors, isAdvised) => {
    const thrown = (): unknown => {
      try {
        return record([exchange(given)], PLAIN, errors);
      } catch (error) {
        return error;
      }
    };
    expect((thrown() as UserError).hint?.includes('errors: true')).toBe(isAdvised);
  });

  it('leaves out a throttled answer whose retry succeeded', () => {
    const entries = record([exchange({ status: 429 }), exchange({ i: 2 })]);
    expect(entries.map(({ i, status }) => [i, status])).toEqual([[1, 200]]);
  });

  it.each([
    ['a reply that broke off', { complete: false, why: 'upstream_reset' as const }],
    ['a reply that is too large', { complete: false, why: 'too_large' as const }],
    ['no reply', { status: undefined, error: 'no reply from x.test (ECONNREFUSED)' }],
  ])('refuses %s', (_, given) => {
    expect(refusal(() => record([exchange(given)]))).toContain('CASSETTE_INCOMPLETE');
  });

  it('a call that the agent gave up before its answer began is refused with a way out', () => {
    const given = {
      status: undefined,
      error: 'client_abort',
      complete: false,
      why: 'client_abort',
    } as const;
    let hint: string | undefined;
    try {
      record([exchange(given)]);
    } catch (error) {
      hint = (error as UserError).hint;
    }
    expect(hint).toContain('longer timeout');
  });

  it('keeps a stream that the client itself gave up', () => {
    expect(record([exchange({ complete: false, why: 'client_abort' })])[0]!.why).toBe(
      'client_abort',
    );
  });

  it.each<[string, Partial<Exchange>]>([
    [
      'in the body',
      { request: Buffer.from(`{"messages":[{"content":"my key is ${KEY}, keep it"}]}`) },
    ],
    ['in the address', { path: `/v1/x?key=${KEY}&alt=sse` }],
    ['in an address of its own kind', { path: `/v1/x?token=abcdefghijkl` }],
    ['in a body that is not JSON', { request: Buffer.from(`key=${KEY}`) }],
  ])('puts a placeholder for a credential of a request: %s', (_, given) => {
    const entries = record([exchange(given)]);
    const text = provenText(cassetteOf(entries), PLAIN, 'f');
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('abcdefghijkl');
    const other = JSON.parse(
      JSON.stringify({ path: given.path ?? '' }).replace(KEY, 'sk-agentci-replay-0000000000000000'),
    );
    const again = record([
      exchange({
        ...given,
        ...(given.path === undefined ? {} : other),
        ...(given.request === undefined
          ? {}
          : {
              request: Buffer.from(
                given.request.toString().replace(KEY, 'sk-agentci-replay-0000000000000000'),
              ),
            }),
      }),
    ]);
    expect(new RecordedAnswers(entries, PLAIN).take(again[0]!)).toBeDefined();
  });

  it.each([
    // A key without a name from another test.
    ['whole', ['{"text":"the key is sk-test-9876543210zyxwvutsrq."}']],
    ['cut by chunks', ['{"text":"the key is sk-test-98765', '43210zyxwvutsrq."}']],
    [
      'cut by events',
      [
        'data: {"d":"sk-test-987654"}\n\n',
        'data: {"d":"3210zyxwvutsrq done"}\n\n',
        'data: [DONE]\n\n',
      ],
    ],
  ])('refuses a credential in a reply, unless scrub names it: %s', (_, pieces) => {
    const given = exchange({ chunks: pieces.map((piece) => [1, Buffer.from(piece)] as const) });
    expect(refusal(() => record([given]))).toBe(
      'CASSETTE_SECRET: the recording was not kept: the reply to call 1 holds a credential (api_key)',
    );
    for (const scrub of ['secret:api_key', 'secret:*', '/sk-test-[0-9a-z]+/']) {
      const rules = matchRules({ ignore: [], scrub: [scrub] });
      const [kept] = record([given], rules);
      expect(Buffer.concat(kept!.chunks).toString()).not.toMatch(/sk-test|3210zyxw/);
      expect(kept!.scrubbed).toEqual(['api_key']);
    }
  });

  it('refuses a secret that only this machine knows', () => {
    SECRETS.add([{ name: 'SHOP_PASSWORD', value: 'correct-horse-battery-9' }]);
    const given = exchange({
      chunks: [[1, Buffer.from('{"text":"it is correct-horse-battery-9"}')]],
    });
    expect(refusal(() => record([given]))).toContain('holds a credential (SHOP_PASSWORD)');
  });

  const FIELD = 'zq7-Pp0-xw21';
  it.each([
    ['at the top', { api_key: FIELD, model: 'm', messages: [] }],
    ['deep inside', { model: 'm', messages: [{ content: [{ input: { password: FIELD } }] }] }],
    ['twice in one object', `{"api_key":"${FIELD}","api_key":"${FIELD}2","model":"m"}`],
  ])('a credential that a field is named after is a placeholder, and matches: %s', (_, given) => {
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    const [kept] = record([exchange({ request: Buffer.from(text) })]);
    expect(writeCassette(cassetteOf([kept!]))).not.toContain(FIELD);
    const elsewhere = exchange({ request: Buffer.from(text.replaceAll(FIELD, 'another-key-77')) });
    expect(new RecordedAnswers([kept!], PLAIN).take(record([elsewhere])[0]!)).toBeDefined();
  });

  it('a body with duplicate keys matches only if all its values are equal', () => {
    const twice = (first: number): Exchange =>
      exchange({ request: Buffer.from(`{"model":"m","temperature":${first},"temperature":1}`) });
    const inside = (first: number): Exchange =>
      exchange({ request: Buffer.from(`{"model":"m","messages":[{"a":${first},"\\u0061":1}]}`) });
    for (const given of [twice, inside]) {
      const answers = new RecordedAnswers(record([given(0)]), PLAIN);
      expect(answers.take(record([given(5)])[0]!)).toBeUndefined();
      expect(answers.take(record([given(0)])[0]!)).toBeDefined();
    }
  });

  it('keeps headers that clients act on, and no others', () => {
    const [kept] = record([
      exchange({
        headers: {
          'content-type': 'text/plain',
          'x-request-id': 'req_1',
          'openai-processing-ms': '12',
        },
      }),
    ]);
    expect(kept!.headers).toEqual({ 'content-type': 'text/plain', 'x-request-id': 'replayed' });
  });

  it('takes the border of a form for what it is', () => {
    const form = (border: string): Exchange =>
      exchange({ request: Buffer.from(`--${border}\r\nname="x"\r\n\r\n1\r\n--${border}--\r\n`) });
    const [kept] = record([form('----abc12345')]);
    expect(
      new RecordedAnswers([kept!], PLAIN).take(record([form('----zzz99999')])[0]!),
    ).toBeDefined();
  });

  it('matches a request that came packed, and bytes by their hash', () => {
    const bytes = exchange({ request: Buffer.from([0xff, 0xfe, 1, 2, 3]) });
    const [kept] = record([bytes]);
    expect(kept!.body).toMatchObject({ kind: 'bytes', size: 5 });
    expect(
      new RecordedAnswers([kept!], PLAIN).take(
        record([exchange({ request: Buffer.from([0xff, 0xfe, 1, 2, 4]) })])[0]!,
      ),
    ).toBeUndefined();
  });
});

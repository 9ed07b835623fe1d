import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { eventStreamIn, isEventStream } from './aws-event-stream.ts';
import { containerOf } from './sniff.ts';
import { unpack } from './unpack.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

/** An AWS event frame: lengths, headers, payload. The checksums are ignored. */
function frame(name: string, payload: string, kind = ':event-type'): Buffer {
  const header = Buffer.concat([
    Buffer.from([kind.length]),
    Buffer.from(kind),
    Buffer.from([7, 0, name.length]),
    Buffer.from(name),
  ]);
  const lengths = Buffer.alloc(12);
  lengths.writeUInt32BE(16 + header.length + payload.length, 0);
  lengths.writeUInt32BE(header.length, 4);
  return Buffer.concat([lengths, header, Buffer.from(payload), Buffer.alloc(4)]);
}

describe('binary streams of AWS', () => {
  const stop = frame('messageStop', '{"stopReason":"end_turn"}');
  test('give their events by name', () => {
    expect(isEventStream(stop)).toBe(true);
    expect(
      eventStreamIn(Buffer.concat([frame('messageStart', '{"role":"assistant"}'), stop])),
    ).toEqual([
      { messageStart: { role: 'assistant' } },
      { messageStop: { stopReason: 'end_turn' } },
    ]);
  });
  test('give what the model sent in a chunk', () => {
    const inner = Buffer.from('{"type":"message_stop"}').toString('base64');
    expect(eventStreamIn(frame('chunk', JSON.stringify({ bytes: inner })))).toEqual([
      { type: 'message_stop' },
    ]);
  });
  test('name an exception, and say where they are cut off', () => {
    expect(eventStreamIn(frame('throttlingException', '{}', ':exception-type'))).toEqual([
      { throttlingException: {} },
    ]);
    expect(eventStreamIn(stop.subarray(0, stop.length - 3))).toEqual([{ cutOff: {} }]);
  });
  test.each([
    '',
    '{"a":1}',
    'event: ping\n\n',
    'a long line of text that is no stream',
    // A colon exactly where a header name would start.
    '{"candidates":[{"content":{}}]}',
  ])('are not %j', (text) => {
    expect(isEventStream(Buffer.from(text))).toBe(false);
  });
});

describe('requests recorded as JSON', () => {
  const body = '{"messages":[]}';
  const reply = '{"object":"chat.completion"}';
  const url = 'http://model.test/v1/chat/completions';
  const read = {
    uri: url,
    method: 'POST',
    status: 200,
    request: { messages: [] },
    response: { object: 'chat.completion' },
  };
  test.each([
    {
      how: 'a HAR file',
      value: {
        log: {
          version: '1.2',
          creator: { name: 'proxy' },
          entries: [
            {
              request: { method: 'POST', url, postData: { text: body } },
              response: { status: 200, content: { text: reply } },
            },
          ],
        },
      },
    },
    {
      how: 'a HAR file with a packed reply',
      value: {
        log: {
          entries: [
            {
              request: { method: 'POST', url, postData: { text: body } },
              response: {
                status: 200,
                content: { text: gzipSync(reply).toString('base64'), encoding: 'base64' },
              },
            },
          ],
        },
      },
    },
    {
      how: 'a recorder with pieces',
      value: {
        meta: { name: 'x' },
        recordings: [
          {
            request: { url, method: 'POST', body: { messages: [] } },
            response: { status: 200, chunks: [reply.slice(0, 9), reply.slice(9)] },
          },
        ],
      },
    },
    {
      how: 'a cassette as JSON',
      value: {
        version: 1,
        interactions: [
          {
            request: { method: 'POST', uri: url, body },
            response: { status: { code: 200 }, body: { string: reply } },
          },
        ],
      },
    },
    {
      how: 'a cassette with parsed bodies',
      value: {
        interactions: [
          {
            request: { method: 'POST', uri: url, parsed_body: { messages: [] } },
            response: { status: { code: 200 }, parsed_body: { object: 'chat.completion' } },
          },
        ],
      },
    },
  ])('as $how give request and reply', ({ value }) => {
    const input = bytes(JSON.stringify(value, null, 1));
    const container = containerOf(input);
    expect(container).toBeDefined();
    expect(unpack(container!, input).records).toEqual([{ value: read }]);
  });
  test.each([
    ['har', '{"log": {"version": "1.2", "entries": []}}'],
    ['cassette', 'interactions: []\n'],
  ] as const)('of %s that hold none say so', (container, text) => {
    expect(unpack(container, bytes(text))).toMatchObject({
      records: [],
      problems: [{ code: 'TRACE_DAMAGED' }],
    });
  });
  test('with a text that goes on at the depth of its key are read', () => {
    const text = [
      'interactions:',
      '  - request:',
      '      body: \'{"messages":',
      '      [], "say": "it\'\'s',
      '      on"}\'',
      '      uri: /v1/x',
      '    response: {body: ok}',
    ].join('\n');
    expect(unpack('cassette', bytes(text)).records).toMatchObject([
      { value: { uri: '/v1/x', request: { messages: [], say: "it's on" } } },
    ]);
  });
  test('with a body written as YAML give it', () => {
    const text =
      'interactions:\n- request: {method: POST, uri: "/v1/x", body: {messages: []}}\n  response: {body: {a: 1}}\n';
    expect(unpack('cassette', bytes(text)).records).toMatchObject([
      { value: { request: { messages: [] }, response: { a: 1 } } },
    ]);
  });
  test.each([
    [
      'of Ruby, as a YAML document',
      '---\nhttp_interactions:\n- request: {method: post, uri: "/v1/x", body: {string: "{}"}}\n',
    ],
    [
      'of Go, with a url and a code',
      '---\nversion: 2\ninteractions:\n- id: 0\n  request: {method: post, url: "/v1/x", body: "{}"}\n',
    ],
  ])('%s, are seen and read', (_, head) => {
    const input = bytes(`${head}  response: {status: "200 OK", code: 200, body: "{}"}\n`);
    expect(containerOf(input)).toBe('cassette');
    expect(unpack('cassette', input).records).toEqual([
      { value: { method: 'post', uri: '/v1/x', request: {}, status: 200, response: {} } },
    ]);
  });

  const asked = 'POST https://x.test/v1/x HTTP/1.1\r\nHost: x.test\r\n\r\n{"a":"ä"}';
  const answered = 'HTTP/2.0 200 OK\r\n\r\n{"b":2}';
  const exchange = `${Buffer.byteLength(asked)} ${Buffer.byteLength(answered)}\n${asked}${answered}`;

  test('as an httprr trace give request and reply, by their lengths in bytes', () => {
    const input = bytes(`httprr trace v1\n${exchange}${exchange}`);
    const value = {
      method: 'POST',
      uri: 'https://x.test/v1/x',
      request: { a: 'ä' },
      status: 200,
      response: { b: 2 },
    };
    expect(containerOf(input)).toBe('httprr');
    expect(unpack('httprr', input)).toEqual({ records: [{ value }, { value }] });
  });

  test('as a truncated httprr trace are a problem next to the readable part', () => {
    const { records, problems } = unpack(
      'httprr',
      bytes(`httprr trace v1\n${exchange}${exchange.slice(0, -2)}`),
    );
    expect([records.length, problems?.length]).toEqual([1, 1]);
  });

  test('that are damaged are a problem', () => {
    expect(unpack('har', bytes('{"log": {"version": "1.2", "entries": [')).problems).toMatchObject([
      { code: 'TRACE_DAMAGED' },
    ]);
  });
});

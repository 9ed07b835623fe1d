import { gzipSync } from 'node:zlib';
import { readAll } from '@agentci/testing/read-all';
import fc from 'fast-check';
import { strToU8, zipSync } from 'fflate';
import { PbfWriter } from 'pbf';
import { describe, expect, test } from 'vitest';
import { unpackCassette } from './cassette.ts';
import { eventsIn, unpackEvents } from './events.ts';
import { unpackMultipart } from './multipart.ts';
import { unpackProtobuf } from './protobuf.ts';
import { type Container, containerOf } from './sniff.ts';
import { unpack } from './unpack.ts';
import { unpackZip } from './zip.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('zip files', () => {
  test('give their JSON files, and nothing else that is in them', () => {
    const zip = zipSync({
      'a.json': strToU8('{"x":1}'),
      'notes.md': strToU8('# no'),
      'b/c.json': strToU8('[2]'),
    });
    expect(unpackZip(zip).records.map(({ value }) => value)).toEqual([
      { file: 'a.json', value: { x: 1 } },
      { file: 'b/c.json', value: [2] },
    ]);
  });

  test('that claim to hold more than can be read are refused before anything is unpacked', () => {
    const zip = zipSync({ 'a.json': strToU8('{"x":1}') });
    const bomb = Buffer.from(zip);
    const central = bomb.lastIndexOf(Buffer.from('PK\u0001\u0002', 'latin1'));
    bomb.writeUInt32LE(0xfffffff0, central + 24);
    expect(unpackZip(bomb)).toMatchObject({ records: [], problems: [{ code: 'TRACE_TOO_LARGE' }] });
  });

  test('never unpack to more than they claim', () => {
    const zip = Buffer.from(zipSync({ 'a.json': strToU8(`"${'x'.repeat(100_000)}"`) }));
    const central = zip.lastIndexOf(Buffer.from('PK\u0001\u0002', 'latin1'));
    zip.writeUInt32LE(10, central + 24);
    const { records } = unpackZip(zip);
    expect(JSON.stringify(records).length).toBeLessThan(1000);
  });

  test.each([
    { what: 'cut off', spoil: (zip: Buffer) => zip.subarray(0, zip.length - 30) },
    { what: 'a header alone', spoil: (zip: Buffer) => zip.subarray(0, 4) },
  ])('that are damaged ($what) are a problem', ({ spoil }) => {
    const zip = Buffer.from(zipSync({ 'a.json': strToU8('{"x":1}') }));
    expect(unpackZip(spoil(zip))).toMatchObject({
      records: [],
      problems: [{ code: 'TRACE_DAMAGED' }],
    });
  });

  test('report files that are not JSON, and read the others', () => {
    const zip = zipSync({ 'a.json': strToU8('{'), 'b.json': strToU8('{}') });
    const { records, problems } = unpackZip(zip);
    expect(records).toHaveLength(1);
    expect(problems).toMatchObject([
      { code: 'TRACE_DAMAGED', message: expect.stringContaining('a.json') },
    ]);
  });
});

describe('protobuf', () => {
  /** A request with one log record, as log exporters send it. */
  const logs = (): Uint8Array => {
    const pbf = new PbfWriter();
    pbf.writeMessage(
      1,
      (_, resource) => {
        resource.writeMessage(1, () => undefined, undefined);
        resource.writeMessage(
          2,
          (__, scope) => {
            scope.writeMessage(
              2,
              (___, log) => {
                log.writeFixed64Field(1, 1_767_603_600_000_000_000);
                log.writeMessage(
                  5,
                  (____, body) => body.writeStringField(1, '{"message":{"content":"done"}}'),
                  undefined,
                );
                log.writeBytesField(9, Buffer.from('0af7651916cd43dd8448eb211c80319c', 'hex'));
                log.writeBytesField(10, Buffer.from('b7ad6b7169203331', 'hex'));
                log.writeStringField(12, 'gen_ai.choice');
              },
              undefined,
            );
          },
          undefined,
        );
      },
      undefined,
    );
    return pbf.finish();
  };

  test('distinguishes log records from spans and decodes them to the JSON shape', () => {
    const { records, format } = unpackProtobuf(logs());
    expect(format).toBe('otlp-protobuf');
    expect(records[0]!.value).toMatchObject({
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: [
                {
                  eventName: 'gen_ai.choice',
                  spanId: 'b7ad6b7169203331',
                  traceId: '0af7651916cd43dd8448eb211c80319c',
                  body: { stringValue: '{"message":{"content":"done"}}' },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  test('of log records alone still shows the messages', async () => {
    const { traces } = await readAll(logs());
    expect(traces).toMatchObject([
      { source: { format: 'otlp-protobuf' }, final: { text: 'done' } },
    ]);
  });

  test.each([1, 5, 20, 40])('that breaks off %i bytes before its end is a problem', (missing) => {
    const whole = logs();
    const { records, problems } = unpackProtobuf(whole.subarray(0, whole.length - missing));
    expect(records).toEqual([]);
    expect(problems).toMatchObject([{ code: 'TRACE_DAMAGED' }]);
  });

  test('nested deeper than anybody writes is a problem, not a crash', () => {
    let value: Buffer = Buffer.from([0x0a, 0x00]);
    const wrap = (tag: number, inner: Buffer): Buffer => {
      const pbf = new PbfWriter();
      pbf.writeBytesField(tag, inner);
      return Buffer.from(pbf.finish());
    };
    for (let i = 0; i < 200; i++) value = wrap(5, wrap(1, value));
    const request = wrap(1, wrap(2, wrap(2, wrap(9, wrap(2, value)))));
    expect(unpackProtobuf(request)).toMatchObject({
      records: [],
      problems: [{ code: 'TRACE_DAMAGED' }],
    });
  });
});

describe('gzip', () => {
  test('reports damage with its position, and reads everything before it', async () => {
    const packed = gzipSync('{"query":"a","answer":"b"}\n'.repeat(2000));
    const { problems } = await readAll(packed.subarray(0, packed.length - 12));
    expect(problems.length).toBeGreaterThan(0);
    for (const { code } of problems) expect(code).toMatch(/^TRACE_/);
  });
});

describe('server-sent events', () => {
  test.each([
    { what: 'lines end with CRLF', text: 'data: {"x":1}\r\n\r\ndata: {"x":2}\r\n\r\n' },
    {
      what: 'there are comments and names',
      text: ': ping\n\nevent: a\ndata: {"x":1}\n\n: ping\nid: 7\ndata:{"x":2}\n\n',
    },
    { what: 'data stand on several lines', text: 'data: {"x":\ndata: 1}\n\ndata: {"x":2}\n\n' },
    { what: 'the end has no empty line', text: 'data: {"x":1}\n\ndata: {"x":2}' },
    {
      what: 'the stream says that it is done',
      text: 'data: {"x":1}\n\ndata: {"x":2}\n\ndata: [DONE]\n\n',
    },
  ])('are read when $what', ({ text }) => {
    expect(eventsIn(text).records.map(({ value }) => value)).toEqual([{ x: 1 }, { x: 2 }]);
  });

  test('report lines that are not JSON', () => {
    expect(unpackEvents(bytes('data: {"x":1}\n\ndata: {"x":\n\n'))).toMatchObject({
      records: [{ value: { x: 1 }, line: 1 }],
      problems: [{ code: 'TRACE_DAMAGED', line: 3 }],
    });
  });
});

describe('multipart bodies', () => {
  const part = (name: string, body: string): string =>
    `--B\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: application/json\r\n\r\n${body}\r\n`;

  test('give each part with its name and line, and skip parts that are not JSON', () => {
    const text = `${part('post.1', '{"a":1}')}${part('file', 'not json')}${part('post.1.inputs', '{"b":2}')}--B--\r\n`;
    expect(unpackMultipart(bytes(text)).records).toEqual([
      { value: { part: 'post.1', value: { a: 1 } }, line: 1 },
      { value: { part: 'post.1.inputs', value: { b: 2 } }, line: 11 },
    ]);
  });

  test('that are truncated give the complete parts', () => {
    expect(unpackMultipart(bytes(`${part('a', '1')}--B\r\nContent-Disp`)).records).toHaveLength(1);
  });
});

describe('cassettes', () => {
  const cassette = (body: string): Buffer =>
    bytes(
      [
        'interactions:',
        '- request: {method: POST, uri: "http://model.test/v1/chat/completions", body: "{\\"messages\\":[]}"}',
        '  response:',
        '    status: {code: 200, message: OK}',
        `    body: {string: ${body}}`,
        'version: 1',
      ].join('\n'),
    );
  const reply = '{"object":"chat.completion"}';

  test.each([
    { how: 'plain', body: JSON.stringify(reply) },
    { how: 'as binary', body: `!!binary ${Buffer.from(reply).toString('base64')}` },
    { how: 'as binary, packed', body: `!!binary ${gzipSync(reply).toString('base64')}` },
    { how: 'as binary of Ruby', body: `!binary ${Buffer.from(reply).toString('base64')}` },
  ])('with a body $how give the reply parsed', ({ body }) => {
    expect(unpackCassette(cassette(body)).records).toMatchObject([
      {
        value: {
          uri: 'http://model.test/v1/chat/completions',
          status: 200,
          request: { messages: [] },
          response: { object: 'chat.completion' },
        },
      },
    ]);
  });

  const asked = '- {method: POST, uri: "http://model.test/v1/chat/completions", body: "{}"}';
  test.each([
    {
      how: 'requests beside responses',
      text: `requests:\n- body: '{}'\n  method: POST\n  uri: http://m/v1\nresponses:\n- body: {string: '${reply}'}\n  status: {code: 200}\nversion: 1\n`,
    },
    {
      how: 'a reply under its old name',
      text: `interactions:\n- request: ${asked.slice(2)}\n  response: {content: '${reply}', status_code: 200}\nversion: 1\n`,
    },
  ])('with $how give the reply', ({ text }) => {
    expect(containerOf(bytes(text))).toBe('cassette');
    expect(unpackCassette(bytes(text)).records).toMatchObject([
      { value: { status: 200, request: {}, response: { object: 'chat.completion' } } },
    ]);
  });

  test('with a body whose packing is damaged have no reply', () => {
    const broken = gzipSync(reply).subarray(0, 15).toString('base64');
    expect(unpackCassette(cassette(`!!binary ${broken}`)).records[0]!.value).toMatchObject({
      response: '',
    });
  });

  test('that are not YAML are a problem with its line', () => {
    expect(unpackCassette(bytes('interactions: [\n  {'))).toMatchObject({
      records: [],
      problems: [{ code: 'TRACE_DAMAGED' }],
    });
  });
});

test('no bytes make a container throw', () => {
  const heads: Record<Container, string> = {
    zip: 'PK\u0003\u0004',
    protobuf: '\n\u0080\u0001\n',
    events: 'data: ',
    multipart: '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
    cassette: 'interactions:\n',
    har: '{"log": {"version": "1.2", "entries": [',
    httprr: 'httprr trace v1\n',
    'data-stream': '0:"a"\n',
  };
  fc.assert(
    fc.property(
      fc.constantFrom(...(Object.keys(heads) as Container[])),
      fc.uint8Array({ maxLength: 300 }),
      (container, rest) => {
        const input = Buffer.concat([Buffer.from(heads[container], 'latin1'), rest]);
        containerOf(input);
        expect(Array.isArray(unpack(container, input).records)).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

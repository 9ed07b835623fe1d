import { describe, expect, it } from 'vitest';
import { askUsage, UsageFilter } from './ask-usage.ts';

describe('asking for usage', () => {
  it.each([
    [
      'a stream without options',
      '{ "stream": true, "n": 1.0}',
      '{"stream_options":{"include_usage":true}, "stream": true, "n": 1.0}',
    ],
    [
      'a stream that declined usage',
      '{"stream":true,"stream_options":{"include_usage":false,"x":1}}',
      '{"stream":true,"stream_options":{"include_usage":true,"x":1}}',
    ],
    [
      'a stream with empty options',
      '{"stream":true,"stream_options":null}',
      '{"stream":true,"stream_options":{"include_usage":true}}',
    ],
  ])('changes %s', (_, body, expected) => {
    expect(askUsage(Buffer.from(body))?.toString()).toBe(expected);
  });

  it.each([
    ['a stream that asked itself', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['a request without a stream', '{"stream":false}'],
    ['a message about streams', '{"messages":[{"content":"\\"stream\\""}]}'],
    ['options of an unknown form', '{"stream":true,"stream_options":[1]}'],
    ['a body that is not JSON', '{"stream":true'],
  ])('leaves %s alone', (_, body) => {
    expect(askUsage(Buffer.from(body))).toBeUndefined();
  });
});

const run = (chunks: readonly Buffer[]): string => {
  const filter = new UsageFilter();
  const out = [...chunks.map((chunk) => filter.push(chunk)), filter.end()];
  return Buffer.concat(out.filter((part) => part !== undefined)).toString('utf8');
};

describe('hiding usage', () => {
  const said = '{"id":"1","choices":[{"delta":{"content":"Größe 😀"}}]}';
  const asked = 'data: {"id":"1","choices":[{"delta":{"content":"Größe 😀"}}],"usage":null}';
  const usage = 'data: {"id":"1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}';

  it.each([
    ['\\n', '\n\n'],
    ['\\r\\n', '\r\n\r\n'],
    ['\\r', '\r\r'],
  ])('takes the usage chunk and "usage": null out of a stream with %s', (_, end) => {
    const stream = Buffer.from([asked, usage, 'data: [DONE]', ''].join(end));
    expect(run([stream])).toBe([`data: ${said}`, 'data: [DONE]', ''].join(end));
  });

  it('gives the same bytes however the stream is cut, in the middle of characters too', () => {
    const stream = Buffer.from([asked, usage, 'data: [DONE]', ''].join('\n\n'));
    const whole = run([stream]);
    for (let size = 1; size < stream.length; size++) {
      const chunks = [];
      for (let at = 0; at < stream.length; at += size) chunks.push(stream.subarray(at, at + size));
      expect(run(chunks)).toBe(whole);
    }
  });

  it.each([
    [
      'usage beside choices, which some servers always send',
      'data: {"choices":[{}],"usage":{"prompt_tokens":1}}\n\n',
    ],
    ['words about usage', 'data: {"choices":[{"delta":{"content":",\\"usage\\":null"}}]}\n\n'],
    ['what is not JSON', 'data: {"usage":null\n\n'],
    ['comments', ': "usage"\n\n'],
    ['an event without its end', 'data: {"choices":[{}],"x":"us'],
  ])('leaves %s alone', (_, stream) => {
    expect(run([Buffer.from(stream)])).toBe(stream);
  });

  it.each([
    ['first', '{"usage":null,"id":"1"}', '{"id":"1"}'],
    ['with spaces', '{"id": "1", "usage": null, "x": 1}', '{"id": "1", "x": 1}'],
    ['alone', '{"usage":null}', '{}'],
    [
      'beside a nested one, which is not the stream’s',
      '{"usage":null,"x":{"a":1,"usage":null}}',
      '{"x":{"a":1,"usage":null}}',
    ],
  ])('removes "usage": null if it is %s', (_, chunk, expected) => {
    expect(run([Buffer.from(`data: ${chunk}\n\n`)])).toBe(`data: ${expected}\n\n`);
  });

  it('passes an event on as soon as it is whole', () => {
    const filter = new UsageFilter();
    expect(filter.push(Buffer.from('data: {"a":1}\n\ndata: {'))?.toString()).toBe(
      'data: {"a":1}\n\n',
    );
    expect(filter.push(Buffer.from('"b":2}\n\n'))?.toString()).toBe('data: {"b":2}\n\n');
  });
});

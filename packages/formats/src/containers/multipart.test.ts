import { expect, test } from 'vitest';
import { unpackMultipart } from './multipart.ts';

test('a part that was cut off is a problem with its place, not a part less', () => {
  const part = (name: string, body: string) =>
    `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${body}\r\n`;
  const text = `${part('post.1', '{"id":"1"}')}${part('note', 'plain')}${part('post.2', '{"id":"2",')}`;
  expect(unpackMultipart(Buffer.from(text))).toMatchObject({
    records: [{ value: { part: 'post.1', value: { id: '1' } } }],
    problems: [{ code: 'TRACE_DAMAGED', line: 9 }],
  });
});

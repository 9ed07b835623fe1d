import { expect, it } from 'vitest';
import { isPlainReply, readWholeRequest, writeWholeReply } from './whole-request.ts';

const HEAD = 'POST /r/t/llm/x?a=1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Length: 4\r\n';

it('reads a request that is all there', () => {
  expect(readWholeRequest(Buffer.from(`${HEAD}X-Odd:  two words \r\n\r\n{ü}`))).toEqual({
    method: 'POST',
    target: '/r/t/llm/x?a=1',
    headers: new Map(
      Object.entries({ host: '127.0.0.1:1', 'content-length': '4', 'x-odd': 'two words' }),
    ),
    body: Buffer.from('{ü}'),
  });
});

it('reads a request that came as to a proxy, without what was for the proxy alone', () => {
  const text = `${HEAD.replace('/r', 'http://127.0.0.1:1/r')}Proxy-Authorization: Basic eA==\r\nProxy-Connection: Keep-Alive\r\n\r\nabcd`;
  const asked = readWholeRequest(Buffer.from(text));
  expect(asked).toMatchObject({ authority: '127.0.0.1:1', target: '/r/t/llm/x?a=1' });
  expect(asked?.headers.has('proxy-authorization')).toBe(false);
});

it.each([
  ['its head is not there yet', HEAD],
  ['its body is not there yet', `${HEAD}\r\nabc`],
  ['another follows', `${HEAD}\r\nabcdPOST / HTTP/1.1\r\n`],
  ['it does not say how long it is', 'POST / HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['its length is not a number', 'POST / HTTP/1.1\r\ncontent-length: +4\r\n\r\nabcd'],
  ['it says twice how long it is', `${HEAD}content-length: 4\r\n\r\nabcd`],
  ['its body comes in chunks', `${HEAD}transfer-encoding: chunked\r\n\r\nabcd`],
  ['it waits for a word before its body', `${HEAD}expect: 100-continue\r\n\r\nabcd`],
  ['it wants another protocol', `${HEAD}upgrade: websocket\r\n\r\nabcd`],
  ['it wants the connection closed', `${HEAD}connection: close\r\n\r\nabcd`],
  ['a header goes on in the next line', `${HEAD}x-a: b\r\n c\r\n\r\nabcd`],
  ['a header has a space before its colon', `${HEAD}x-a : b\r\n\r\nabcd`],
  ['a line ends in half an end', `${HEAD}x-a: b\nx-b: c\r\n\r\nabcd`],
  ['it is of an older version', HEAD.replace('1.1', '1.0').concat('\r\nabcd')],
  ['it names an address with a user', HEAD.replace('/r', 'http://a@x/r').concat('\r\nabcd')],
  ['it wants the connection to the proxy closed', `${HEAD}proxy-connection: close\r\n\r\nabcd`],
  ['its head is huge', `${HEAD}x-a: ${'b'.repeat(20_000)}\r\n\r\nabcd`],
])('leaves a request to others where %s', (_, text) => {
  expect(readWholeRequest(Buffer.from(text))).toBeUndefined();
});

it.each([
  [200, { 'content-type': 'text/plain', 'x-request-id': 'r' }, true],
  [204, {}, false],
  [200, { 'transfer-encoding': 'chunked' }, false],
])('a reply %s with %j is plain: %s', (status, headers, isPlain) => {
  expect(isPlainReply({ status, headers })).toBe(isPlain);
});

it('counts the length of a reply in bytes', () => {
  const reply = writeWholeReply(
    { status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from('ü') },
    5000,
  );
  expect(reply.toString()).toBe(
    'HTTP/1.1 200 \r\ncontent-type: text/plain\r\ncontent-length: 2\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\nü',
  );
});

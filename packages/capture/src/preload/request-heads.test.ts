import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

interface Seen {
  readonly method: string;
  readonly target: string;
  readonly body: string;
  readonly header: (name: string) => string | undefined;
}
interface Heads {
  readonly take: (chunks: readonly { chunk: string | Buffer; encoding?: string }[]) => void;
}
const RequestHeads = createRequire(import.meta.url)('./request-heads.cjs') as new (
  onRequest: (request: Seen) => void,
) => Heads;

const read = (...writes: readonly (string | Buffer)[]): string[] => {
  const seen: string[] = [];
  const heads = new RequestHeads(({ method, target }) => seen.push(`${method} ${target}`));
  for (const chunk of writes) heads.take([{ chunk, encoding: 'utf8' }]);
  return seen;
};

const CALL = 'POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\n\r\n';

describe('requests on a connection', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['one', [CALL], ['POST /v1/chat/completions']],
    [
      'one in pieces',
      ['PO', 'ST /v1/chat/com', 'pletions HTTP/1.', '1\r\nHost: a\r\n\r', '\n'],
      ['POST /v1/chat/completions'],
    ],
    ['after an empty line', [`\r\n\r\n${CALL}`], ['POST /v1/chat/completions']],
    [
      'behind another one in the same write',
      [`GET /a HTTP/1.1\r\nHost: a\r\n\r\n${CALL}`],
      ['GET /a', 'POST /v1/chat/completions'],
    ],
    [
      'behind a body',
      [`PUT /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc${CALL}`],
      ['PUT /a', 'POST /v1/chat/completions'],
    ],
    [
      'behind a body in chunks with a trailer',
      [
        `PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX: y\r\n\r\n${CALL}`,
      ],
      ['PUT /a', 'POST /v1/chat/completions'],
    ],
    [
      'after a server did not take up another protocol',
      ['GET /a HTTP/1.1\r\nUpgrade: h2c\r\n\r\n', CALL],
      ['GET /a', 'POST /v1/chat/completions'],
    ],
    [
      'in a tunnel',
      ['CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', CALL],
      ['CONNECT a:80', 'POST /v1/chat/completions'],
    ],
  ])('%s', (_, writes, seen) => {
    expect(read(...writes)).toEqual(seen);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['in a body', [`PUT /a HTTP/1.1\r\nContent-Length: ${CALL.length}\r\n\r\n`, CALL], ['PUT /a']],
    [
      'in a chunk',
      [
        `PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${CALL.length.toString(16)}\r\n`,
        CALL,
        '\r\n0\r\n\r\n',
      ],
      ['PUT /a'],
    ],
    ['in a mail', ['EHLO me\r\n', 'DATA\r\n', CALL], []],
    ['in a command of Redis', [`*2\r\n$4\r\nECHO\r\n$${CALL.length}\r\n`, `${CALL}\r\n`], []],
    [
      'after the protocol has changed',
      ['GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n', '\x81\x85abcd', CALL],
      ['GET /'],
    ],
  ])('what looks like one %s is none', (_, writes, seen) => {
    expect(read(...writes)).toEqual(seen);
  });

  it('gives what of the body came along, and headers in any case', () => {
    const seen: Seen[] = [];
    const heads = new RequestHeads((request) => seen.push(request));
    heads.take([
      { chunk: 'POST /a HTTP/1.1\r\nHOST:  b:1 \r\ncontent-length: 2\r\n\r\n', encoding: 'latin1' },
      { chunk: Buffer.from('{}') },
    ]);
    expect(seen.map(({ body, header }) => [body, header('host'), header('x')])).toEqual([
      ['{}', 'b:1', undefined],
    ]);
  });

  it('are the same however they are cut into writes', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'é', '\r\n', ' ', 'POST / HTTP/1.1\r\n', '0', ':'),
    });
    const request = fc.record({
      path: fc.stringMatching(/^[a-z]{1,5}$/),
      body: text,
      isChunked: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(request, { maxLength: 4 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        (requests, cuts) => {
          const whole = Buffer.concat(
            requests.flatMap(({ path, body, isChunked }) => {
              const bytes = Buffer.from(body);
              const kind = isChunked
                ? 'Transfer-Encoding: chunked'
                : `Content-Length: ${bytes.length}`;
              let framed: (string | Buffer<ArrayBuffer>)[];
              if (isChunked && bytes.length > 0)
                framed = [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n'];
              else if (isChunked) framed = [];
              else framed = [bytes];
              return [
                `POST /${path} HTTP/1.1\r\n${kind}\r\n\r\n`,
                ...framed,
                ...(isChunked ? ['0\r\n\r\n'] : []),
              ].map((part) => Buffer.from(part));
            }),
          );
          const places = [
            0,
            ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b),
            whole.length,
          ];
          const writes = places.slice(1).map((end, i) => whole.subarray(places[i], end));
          expect(read(...writes)).toEqual(requests.map(({ path }) => `POST /${path}`));
        },
      ),
    );
  });
});

// A process of the capture benchmark: a provider, or the capture server before it. Prints its
// address.
import { createServer } from 'node:http';
import { createJiti } from 'jiti';

const [role, upstream] = process.argv.slice(2);

if (role === 'provider') {
  const server = createServer((request, response) => {
    const isStream = request.url.includes('stream');
    const isLong = request.url.includes('long');
    request.resume();
    request.on('end', () => {
      response.on('error', () => {});
      if (!isStream) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"id":"r","choices":[{"message":{"role":"assistant","content":"ok"}}]}');
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: {"choices":[{"delta":{"content":"0"}}]}\n\n`);
      if (isLong) return;
      let left = 50;
      // Streams like a model: piece by piece with delays, each with its send time.
      const paced = () => {
        if (response.destroyed) return;
        if (left-- === 0) return response.end('data: [DONE]\n\n');
        response.write(
          `data: {"choices":[{"delta":{"content":"${left}"}}],"at":"${process.hrtime.bigint()}"}\n\n`,
        );
        setTimeout(paced, 2);
      };
      if (request.url.includes('paced')) return paced();
      const next = () => {
        if (response.destroyed) return;
        if (left-- === 0) response.end('data: [DONE]\n\n');
        else if (response.write(`data: {"choices":[{"delta":{"content":"${left}"}}]}\n\n`))
          setImmediate(next);
        else response.once('drain', next);
      };
      next();
    });
  });
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1', () =>
    process.stdout.write(`http://127.0.0.1:${server.address().port}\n`),
  );
} else {
  const { createCapture } = await createJiti(import.meta.url).import(
    '../packages/capture/src/capture.ts',
  );
  const capture = createCapture({
    planes: ['llm'],
    env: { OPENAI_BASE_URL: `${upstream}/v1` },
    cwd: '/',
  });
  const slot = await capture.open();
  slot.begin();
  process.stdout.write(`${slot.set.OPENAI_BASE_URL}\n`);
  process.stdin.on('data', async () => {
    const { evidence } = await slot.end('itself');
    const count = (why) => evidence.exchanges.filter((exchange) => exchange.why === why).length;
    const rssMb = Math.round(process.memoryUsage().rss / 1024 / 1024);
    process.stdout.write(
      `${JSON.stringify({ exchanges: evidence.exchanges.length, aborted: count('client_abort'), rssMb })}\n`,
    );
    slot.begin();
  });
}

// A process of the cassette benchmark: a server that repeatedly answers one request from a
// cassette. Prints its address.
import { createJiti } from 'jiti';

const source = '../packages/capture/src';
const jiti = createJiti(import.meta.url);
const { createCapture } = await jiti.import(`${source}/capture.ts`);
const { matchRules } = await jiti.import(`${source}/cassette/canonical.ts`);
const { CassetteSession } = await jiti.import(`${source}/cassette/session.ts`);

const entry = {
  i: 1,
  provider: 'openai',
  route: 'chat',
  method: 'POST',
  path: '/v1/chat/completions',
  body: { kind: 'json', value: JSON.parse(process.argv[2]) },
  status: 200,
  headers: { 'content-type': 'application/json' },
  chunks: [Buffer.from('{"id":"r","choices":[{"message":{"role":"assistant","content":"ok"}}]}')],
};
const session = new CassetteSession({
  mode: 'replay',
  rules: matchRules({ ignore: [], scrub: [] }),
  errors: false,
  repeatsLast: true,
  cassette: { providers: { openai: {} }, entries: [entry] },
  file: 'bench.jsonl',
});
const capture = createCapture({
  planes: ['llm'],
  env: {},
  cwd: '/',
  offline: { providers: { openai: {} } },
});
const slot = await capture.open({ answer: session.answer });
slot.begin();
process.stdout.write(`${slot.set.OPENAI_BASE_URL}\n`);
process.stdin.resume();

import { execFile, execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startChaos } from '@agentci/testing/chaos-upstream';
import { tempDir } from '@agentci/testing/temp-dir';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createCapture } from '../capture.ts';

const run = promisify(execFile);
const undici = dirname(createRequire(import.meta.url).resolve('undici/package.json'));

let model: Awaited<ReturnType<typeof startChaos>>;
beforeAll(async () => {
  model = await startChaos((_, response) => void response.end('live'));
  return () => model.close();
});

/** Runs a Node agent with a capture. Returns its output and the observations. */
async function runAgent(
  cwd: string,
  more: Pick<Parameters<typeof createCapture>[0], 'offline' | 'answer'> = {},
) {
  const env = { PATH: process.env.PATH };
  const capture = createCapture({ planes: ['llm'], env, cwd, command: ['node'], ...more });
  onTestFinished(() => capture.close());
  const slot = await capture.open();
  onTestFinished(() => slot.close());
  const { stdout } = await run(process.execPath, ['agent.mjs'], {
    cwd,
    env: slot.env as NodeJS.ProcessEnv,
  });
  const { evidence } = await slot.end('itself');
  return { said: stdout.trim(), calls: evidence.exchanges.length, gaps: evidence.gaps };
}

/**
 * Ways in which an agent can call a model at an address in its code, and the expected observation:
 * the call itself, or only its existence.
 */
const SENT = `sent.on('response', async (reply) => { let text = ''; for await (const chunk of reply) text += chunk; console.log(text); process.exit(); });
sent.on('error', (error) => { console.log(error.message); process.exit(); }); sent.end(body);`;
const ASK = `fetch('ADDRESS', { method: 'POST', body: '{}' }).then((reply) => reply.text())`;
const WAYS: readonly (readonly [string, 'captured' | 'told', string])[] = [
  [
    'a request made by its class',
    'told',
    `const sent = new http.ClientRequest('ADDRESS', { method: 'POST' }); ${SENT}`,
  ],
  [
    'a path that is a whole address',
    'told',
    `const sent = http.request({ host: '127.0.0.1', port: PORT, path: 'ADDRESS', method: 'POST' }); ${SENT}`,
  ],
  [
    'a path that is set later',
    'told',
    `const sent = http.request('http://127.0.0.1:PORT/', { method: 'POST' }); sent.path = '/v1/chat/completions'; ${SENT}`,
  ],
  [
    'another agent for all calls, with connections of its own',
    'captured',
    `http.globalAgent = new (class extends http.Agent { createConnection() { return net.connect(PORT, '127.0.0.1'); } })();
     const sent = http.request('ADDRESS', { method: 'POST' }); ${SENT}`,
  ],
  [
    'other connections for every agent',
    'captured',
    `http.Agent.prototype.createConnection = () => net.connect(PORT, '127.0.0.1'); const sent = http.request('ADDRESS', { method: 'POST' }); ${SENT}`,
  ],
  [
    'a copy of undici under another name',
    'told',
    `const { request } = (await import('./vendored/index.js')).default;
     const { body: said } = await request('ADDRESS', { method: 'POST', body }).catch((error) => ({ body: { text: () => error.message } }));
     console.log(await said.text()); process.exit();`,
  ],
  [
    'a socket, in three pieces',
    'told',
    `const socket = net.connect(PORT, '127.0.0.1'); const pause = () => new Promise((done) => setTimeout(done, 20));
     socket.on('error', (error) => { console.log(error.message); process.exit(); }); socket.on('data', () => { console.log('live'); process.exit(); });
     socket.write('POST /v1/ch'); await pause(); socket.write('at/completions HTT'); await pause(); socket.write('P/1.1\\r\\nHost: 127.0.0.1:PORT\\r\\nContent-Length: 2\\r\\n\\r\\n{}');`,
  ],
  [
    'a socket, behind another request',
    'told',
    `const socket = net.connect(PORT, '127.0.0.1'); socket.on('error', (error) => { console.log(error.message); process.exit(); });
     let said = ''; socket.on('data', (data) => { said += data; if (said.split('live').length > 2) { console.log('live'); process.exit(); } });
     const head = (path) => 'POST ' + path + ' HTTP/1.1\\r\\nHost: 127.0.0.1:PORT\\r\\nContent-Length: 2\\r\\n\\r\\n{}';
     socket.write(Buffer.from('\\r\\n' + head('/tool') + head('/v1/chat/completions')).toString('hex'), 'hex');`,
  ],
  [
    'a path that tools have too, with what is said to a model',
    'told',
    `const sent = new http.ClientRequest('http://127.0.0.1:PORT/api/chat', { method: 'POST' }); body = '{"model":"m","messages":[]}'; ${SENT}`,
  ],
  [
    'a program that is started with NODE_OPTIONS of its own',
    'captured',
    `console.log(execFileSync('sh', ['-c', 'NODE_OPTIONS=--no-warnings node ask.mjs'], { encoding: 'utf8' }))`,
  ],
  [
    'a program that is given its variables one by one',
    'captured',
    `console.log(execFileSync(process.execPath, ['ask.mjs'], { encoding: 'utf8', env: { LANG: 'C' } }))`,
  ],
  ...[
    'spawnSync(process.execPath, ["ask.mjs"]).stdout',
    'execFileSync(process.execPath, ["ask.mjs"])',
    'execSync("node ask.mjs")',
  ].map(
    (call) =>
      [
        `a program that is started after NODE_OPTIONS was changed: ${call}`,
        'captured',
        `process.env.NODE_OPTIONS = '--no-warnings'; process.env.PATH = '${dirname(process.execPath)}'; console.log(String(${call}))`,
      ] as const,
  ),
  [
    'a program in the background that is given its variables one by one',
    'captured',
    `execFile(process.execPath, ['ask.mjs'], { env: { LANG: 'C', NODE_OPTIONS: '--no-warnings' } }, (_, said) => console.log(said))`,
  ],
  [
    'a thread with variables of its own',
    'captured',
    `new Worker(new URL('./ask.mjs', import.meta.url), { env: { LANG: 'C' } })`,
  ],
];

const IMPORTS = `import http from 'node:http'; import net from 'node:net'; import { Worker } from 'node:worker_threads';
import { execFile, execFileSync, execSync, spawnSync } from 'node:child_process'; let body = '{}';`;

describe.each([
  { when: 'calls are recorded', offline: undefined },
  { when: 'nothing may be reached', offline: { providers: {} } },
])('where $when, a model at an address in the code is asked by', ({ offline }) => {
  it.each(WAYS)('%s: %s', async (_, seen, code) => {
    const before = model.requests.length;
    const { port } = new URL(model.url);
    const filled = (text: string) =>
      text.replaceAll('ADDRESS', `${model.url}/v1/chat/completions`).replaceAll('PORT', port);
    const files = {
      'agent.mjs': `${IMPORTS}\n${filled(code)}`,
      'ask.mjs': `console.log(await ${filled(ASK)})`,
    };
    const cwd = tempDir(files);
    if (code.includes('./vendored/')) cpSync(undici, join(cwd, 'vendored'), { recursive: true });
    const { said, calls, gaps } = await runAgent(cwd, {
      offline,
      answer: async () => ({
        served: 'cassette',
        status: 200,
        headers: {},
        chunks: [Buffer.from('recorded')],
      }),
    });
    const told = [{ gap: 'tunnelled', detail: `127.0.0.1:${port}` }];
    const isMade = seen === 'told' && offline === undefined;
    expect([calls, gaps]).toEqual(seen === 'captured' ? [1, []] : [0, told]);
    let expected: unknown;
    if (seen === 'captured') {
      expected = 'recorded';
    } else if (isMade) {
      expected = 'live';
    } else {
      expected = expect.stringMatching(/cannot be led to the recording/);
    }
    expect(said).toEqual(expected);
    expect(model.requests.length > before).toBe(isMade);
  });
});

it.each([
  ['a proxy of its own', `new http.Agent()`, `agent.proxy = { host: '127.0.0.1:9' }`],
  [
    'names of its own',
    `new http.Agent({ lookup: (_, { all }, done) => (all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)) })`,
    '',
  ],
])('a call with %s is made unchanged and reported', async (_, agent, more) => {
  const { port } = new URL(model.url);
  const cwd = tempDir({
    'agent.mjs': `${IMPORTS} const agent = ${agent}; ${more}; const sent = http.request('http://model.internal:${port}/v1/chat/completions', { method: 'POST', agent, lookup: (_, { all }, done) => (all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)) }); ${SENT}`,
  });
  const { said, calls, gaps } = await runAgent(cwd);
  expect([said, calls, gaps]).toEqual([
    'live',
    0,
    [{ gap: 'tunnelled', detail: `model.internal:${port}` }],
  ]);
});

describe('requests that are not model calls stay unchanged', () => {
  it('to sockets and to standard output', async () => {
    const server = await startChaos(
      (request, response) => void response.end(`${request.method} seen`),
    );
    onTestFinished(() => server.close());
    const { port } = new URL(server.url);
    const cwd = tempDir({
      'agent.mjs': `${IMPORTS} console.log('POST /v1/chat/completions HTTP/1.1\\r\\n');
        const sent = new http.ClientRequest('http://127.0.0.1:${port}/tools/search', { method: 'POST' }); ${SENT}`,
    });
    const { said, gaps } = await runAgent(cwd);
    expect([said.split(/\s*\n/), gaps]).toEqual([
      ['POST /v1/chat/completions HTTP/1.1', 'POST seen'],
      [],
    ]);
  });
});

describe.each([
  { when: 'calls are recorded', offline: undefined },
  { when: 'nothing may be reached', offline: { providers: {} } },
])('where $when, an encrypted call past the capture', ({ offline }) => {
  /** A host of models that resolves to this machine by the program's own `lookup`. */
  const HERE = `lookup: (_, { all }, done) => (all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4))`;
  it.each([
    [
      'by a request made by its class',
      `import https from 'node:https'; ${IMPORTS} const agent = new https.Agent({ rejectUnauthorized: false, ${HERE} });
       const sent = new http.ClientRequest({ protocol: 'https:', agent, host: 'api.mistral.ai', port: PORT, path: '/v1/chat/completions', method: 'POST' }); ${SENT}`,
    ],
    [
      'over HTTP/2',
      `import http2 from 'node:http2'; const session = http2.connect('https://api.mistral.ai:PORT', { rejectUnauthorized: false, ${HERE} });
       const fail = (error) => { console.log(error.message); process.exit(); };
       session.on('error', fail); const stream = session.request({ ':method': 'POST', ':path': '/v1/chat/completions' }); stream.on('error', fail);
       stream.on('data', (data) => { console.log(String(data)); process.exit(); }); stream.end('{}');`,
    ],
  ])('%s is reported', async (_, code) => {
    const { key, cert } = madeCertificate();
    const server = createSecureServer(
      { key, cert, allowHTTP1: true },
      (__, response) => void response.end('live'),
    );
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const cwd = tempDir({ 'agent.mjs': code.replaceAll('PORT', String(port)) });
    const { said, gaps } = await runAgent(cwd, { offline });
    expect([said, gaps]).toEqual([
      offline === undefined ? 'live' : expect.stringMatching(/cannot be led to the recording/),
      [{ gap: 'tunnelled', detail: expect.stringMatching(/^api\.mistral\.ai(?::\d+)?$/) }],
    ]);
  });
});

function madeCertificate(): { key: string; cert: string } {
  const cwd = tempDir({});
  const args =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 1';
  execFileSync('openssl', [...args.split(' '), '-subj', '/CN=api.mistral.ai'], {
    cwd,
    stdio: 'ignore',
  });
  return {
    key: readFileSync(join(cwd, 'key.pem'), 'utf8'),
    cert: readFileSync(join(cwd, 'cert.pem'), 'utf8'),
  };
}

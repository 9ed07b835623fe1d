import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startChaos } from '@agentci/testing/chaos-upstream';
import { tempDir } from '@agentci/testing/temp-dir';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createCapture } from '../capture.ts';

const run = promisify(execFile);
const from = createRequire(import.meta.url);
/** Packages of this repository, as a program in another folder would import them. */
const entryOf = (name: string): string => join(dirname(from.resolve(`${name}/package.json`)));

/** Runs a Node program with a capture that answers for every provider. */
async function runAgent(
  files: Readonly<Record<string, string>>,
  {
    env = {},
    args = ['agent.mjs'],
  }: { env?: Record<string, string>; args?: readonly string[] } = {},
) {
  const cwd = tempDir(files);
  const capture = createCapture({
    planes: ['llm'],
    env: { PATH: process.env.PATH, ...env },
    cwd,
    command: ['node', ...args],
    answer: async ({ uri, method, body }) => ({
      served: 'cassette',
      status: 200,
      headers: { 'content-type': 'application/json' },
      chunks: [Buffer.from(JSON.stringify({ uri, method, said: body.toString() }))],
    }),
  });
  onTestFinished(() => capture.close());
  const slot = await capture.open();
  onTestFinished(() => slot.close());
  const { stdout, stderr } = await run(process.execPath, [...args], {
    cwd,
    env: slot.env as NodeJS.ProcessEnv,
  });
  const { evidence } = await slot.end('itself');
  return {
    stdout: stdout.trim(),
    stderr,
    uris: evidence.exchanges.map(({ uri }) => uri),
    gaps: evidence.gaps,
    slot,
  };
}

const URL_ = 'https://api.mistral.ai/v1/chat/completions';
const POST = `{ method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer k' } }`;
const collect = `let text = ''; for await (const chunk of reply) text += chunk; console.log(text);`;
const answered = (said: string): string => JSON.stringify({ uri: URL_, method: 'POST', said });

it.each([
  ['/responses', { model: 'm', input: 'hi' }, true],
  ['/api/chat', { model: 'm', messages: [] }, true],
  ['/messages', { model: 'm', messages: [] }, true],
  ['/messages', { jsonrpc: '2.0', method: 'tools/call', id: 1 }, false],
  ['/api/chat', { text: 'the "model" is here', prompt: 'x' }, false],
])('the body sent to %s decides whether it is a model call: %j', async (path, body, isCall) => {
  const server = await startChaos((_, response) => void response.end('direct'));
  onTestFinished(() => server.close());
  const url = new URL(server.url).origin + path;
  const agent = `console.log(await (await fetch('${url}', { method: 'POST', body: ${JSON.stringify(JSON.stringify(body))} })).text())`;
  const { stdout, uris } = await runAgent({ 'agent.mjs': agent });
  expect([stdout === 'direct', uris]).toEqual(isCall ? [false, [url]] : [true, []]);
});

it('a reply says that it is from where it was asked for', async () => {
  const agent = `console.log((await fetch('${URL_}', { ...${POST}, body: 'hi' })).url)`;
  expect((await runAgent({ 'agent.mjs': agent })).stdout).toBe(URL_);
});

it.each([
  ['createConnection', `createConnection: () => net.connect(PORT, '127.0.0.1')`],
  ['socketPath', `socketPath: 'model.sock'`],
])('a call with a custom connection is made and reported: %s', async (_, option) => {
  const model = await startChaos((__, response) => void response.end('direct'));
  onTestFinished(() => model.close());
  const { port } = new URL(model.url);
  const agent = `
    import http from 'node:http'; import net from 'node:net';
    const relay = net.createServer((socket) => socket.pipe(net.connect(${port}, '127.0.0.1')).pipe(socket)).listen('model.sock');
    const options = { method: 'POST', path: '/v1/chat/completions', ${option.replace('PORT', port)} };
    http.request(options, async (reply) => { ${collect} relay.close(); process.exit(); }).end('hi');`;
  const { stdout, uris, gaps } = await runAgent({ 'agent.mjs': agent });
  expect([stdout, uris, gaps]).toEqual([
    'direct',
    [],
    [{ gap: 'tunnelled', detail: expect.stringContaining('localhost') }],
  ]);
});

describe('calls of a known host go through the capture', () => {
  const cases: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [
      'fetch',
      {
        'agent.mjs': `console.log(await (await fetch('${URL_}', { ...${POST}, body: 'hi' })).text())`,
      },
    ],
    [
      'fetch of a name that ends with a dot',
      {
        'agent.mjs': `console.log(await (await fetch('${URL_.replace('.ai/', '.ai./')}', { ...${POST}, body: 'hi' })).text())`,
      },
    ],
    [
      'fetch of a URL',
      {
        'agent.mjs': `console.log(await (await fetch(new URL('${URL_}'), { ...${POST}, body: 'hi' })).text())`,
      },
    ],
    [
      'fetch of a Request',
      {
        'agent.mjs': `console.log(await (await fetch(new Request('${URL_}', { ...${POST}, body: 'hi' }))).text())`,
      },
    ],
    [
      'fetch with a body that is a stream',
      {
        'agent.mjs': `const body = new Blob(['hi']).stream(); console.log(await (await fetch('${URL_}', { ...${POST}, body, duplex: 'half' })).text())`,
      },
    ],
    [
      'node:https in an ES module, by its default',
      {
        'agent.mjs': `import https from 'node:https'; import { once } from 'node:events';
        const sent = https.request('${URL_}', ${POST}); sent.end('hi'); const [reply] = await once(sent, 'response'); ${collect}`,
      },
    ],
    [
      'node:https in an ES module, by name',
      {
        'agent.mjs': `import { request } from 'https'; import { once } from 'node:events';
        const sent = request({ hostname: 'api.mistral.ai', path: '/v1/chat/completions', ...${POST} }); sent.end('hi'); const [reply] = await once(sent, 'response'); ${collect}`,
      },
    ],
    [
      'https in CommonJS, with an agent and a Host header of its own',
      {
        'agent.cjs': `const https = require('https');
        const options = { host: 'api.mistral.ai', port: 443, path: '/v1/chat/completions', agent: new https.Agent({ keepAlive: true }), method: 'POST', headers: { Host: 'api.mistral.ai' } };
        https.request(options, async (reply) => { ${collect} process.exit(0); }).end('hi');`,
      },
    ],
    [
      'https in a .js file of a package of ES modules',
      {
        'package.json': '{"type":"module"}',
        'agent.js': `import https from 'https'; https.request('${URL_}', ${POST}, async (reply) => { ${collect} }).end('hi');`,
      },
    ],
    [
      'undici, the package: request',
      {
        'agent.mjs': `import { request } from '${entryOf('undici')}/index.js'; const { body } = await request('${URL_}', { ...${POST}, body: 'hi' }); console.log(await body.text())`,
      },
    ],
    [
      'undici, the package: fetch',
      {
        'agent.mjs': `import { fetch } from '${entryOf('undici')}/index.js'; console.log(await (await fetch('${URL_}', { ...${POST}, body: 'hi' })).text())`,
      },
    ],
    [
      'undici, the package: Client',
      {
        'agent.mjs': `import { Client } from '${entryOf('undici')}/index.js'; const { body } = await new Client('https://api.mistral.ai').request({ path: '/v1/chat/completions', ...${POST}, body: 'hi' }); console.log(await body.text()); process.exit()`,
      },
    ],
    [
      'undici, the package: Pool',
      {
        'agent.mjs': `import { Pool } from '${entryOf('undici')}/index.js'; const { body } = await new Pool('https://api.mistral.ai').request({ path: '/v1/chat/completions', ...${POST}, body: 'hi' }); console.log(await body.text()); process.exit()`,
      },
    ],
    [
      'node-fetch',
      {
        'agent.mjs': `import fetch from '${entryOf('node-fetch')}/src/index.js'; console.log(await (await fetch('${URL_}', { ...${POST}, body: 'hi' })).text())`,
      },
    ],
    [
      'a worker thread',
      {
        'agent.mjs': `import { Worker } from 'node:worker_threads'; new Worker(new URL('./thread.mjs', import.meta.url));`,
        'thread.mjs': `console.log(await (await fetch('${URL_}', { ...${POST}, body: 'hi' })).text())`,
      },
    ],
    [
      'a child process',
      {
        'agent.mjs': `import { execFileSync } from 'node:child_process'; console.log(execFileSync(process.execPath, ['child.cjs'], { encoding: 'utf8' }).trim());`,
        'child.cjs': `fetch('${URL_}', { ...${POST}, body: 'hi' }).then((reply) => reply.text()).then(console.log)`,
      },
    ],
  ];
  it.each(cases)('%s', async (_, files) => {
    const main = Object.keys(files).find((name) => name.startsWith('agent.'))!;
    const { stdout, stderr, uris } = await runAgent(files, { args: [main] });
    expect(stderr).toBe('');
    expect(stdout).toBe(answered('hi'));
    expect(uris).toEqual([URL_]);
  });

  it('an address of the user’s own that the code also holds', async () => {
    const OPENAI_BASE_URL = 'http://127.0.0.1:9/team/v1';
    const { stdout, uris } = await runAgent(
      {
        'agent.mjs': `import http from 'node:http'; console.log((await (await fetch('${OPENAI_BASE_URL}/chat/completions', { ...${POST}, body: 'a' })).json()).said);
        http.request('${OPENAI_BASE_URL}/chat/completions', ${POST}, async (reply) => { let text = ''; for await (const chunk of reply) text += chunk; console.log(JSON.parse(text).said); }).end('b');`,
      },
      { env: { OPENAI_BASE_URL } },
    );
    expect(stdout.split('\n').sort()).toEqual(['a', 'b']);
    expect(uris).toHaveLength(2);
  });
});

describe('a possible model call goes through the capture, at any address', () => {
  const asked = (url: string): string =>
    `await (await fetch('${url}', { ...${POST}, body: 'hi' })).json()`;
  it.each([
    ['on this machine', 'http://localhost:9/v1/chat/completions'],
    ['elsewhere', 'https://gateway.example/team/v1/messages'],
    ['elsewhere, at a port of its own', 'https://gateway.example:8443/v1/responses'],
    ['at an address of IPv6', 'http://[::1]:9/v1/chat/completions'],
    ['of Ollama', 'http://127.0.0.1:11434/api/chat'],
  ])('%s', async (_, url) => {
    const { stdout, uris } = await runAgent({
      'agent.mjs': `import http from 'node:http'; import https from 'node:https'; import { once } from 'node:events';
        console.log((${asked(url)}).uri);
        const sent = ('${url}'.startsWith('https') ? https : http).request('${url}', ${POST}); sent.end('hi');
        const [reply] = await once(sent, 'response'); let text = ''; for await (const chunk of reply) text += chunk; console.log(JSON.parse(text).uri);`,
    });
    expect([stdout.split('\n'), uris]).toEqual([
      [url, url],
      [url, url],
    ]);
  });

  it('with the user and the password of its address', async () => {
    let authorization: string | undefined;
    const server = await startChaos((request, response) => {
      authorization = request.headers.authorization;
      response.end('{}');
    });
    onTestFinished(() => server.close());
    const capture = createCapture({
      planes: ['llm'],
      env: { PATH: process.env.PATH },
      cwd: tempDir({}),
      command: ['node'],
    });
    onTestFinished(() => capture.close());
    const slot = await capture.open();
    onTestFinished(() => slot.close());
    const address = `${server.url.replace('//', '//ann:p%40ss@')}/v1/chat/completions`;
    const program = `require('http').request('${address}', { method: 'POST' }, (reply) => reply.resume()).end('{}')`;
    await run(process.execPath, ['-e', program], { env: slot.env as NodeJS.ProcessEnv });
    expect(authorization).toBe(`Basic ${Buffer.from('ann:p@ss').toString('base64')}`);
    const { evidence } = await slot.end('itself');
    expect(evidence.exchanges).toMatchObject([
      { provider: `@localhost:${new URL(server.url).port}`, status: 200 },
    ]);
  });

  it('except if the program has custom certificates: it is made unchanged and reported', async () => {
    const cwd = tempDir({});
    const capture = createCapture({
      planes: ['llm'],
      env: { PATH: process.env.PATH },
      cwd,
      command: ['node'],
    });
    onTestFinished(() => capture.close());
    const slot = await capture.open();
    onTestFinished(() => slot.close());
    const program = `require('https').request('https://127.0.0.1:9/v1/chat/completions', { method: 'POST', rejectUnauthorized: false })
      .on('error', (error) => setTimeout(() => console.log(error.code), 50)).end('{}')`;
    const { stdout } = await run(process.execPath, ['-e', program], {
      env: slot.env as NodeJS.ProcessEnv,
    });
    expect(stdout.trim()).toBe('ECONNREFUSED');
    const { evidence } = await slot.end('itself');
    expect([evidence.exchanges, evidence.gaps]).toEqual([
      [],
      [{ gap: 'tunnelled', detail: '127.0.0.1:9' }],
    ]);
  });
});

describe('everything else is as it was', () => {
  let url: string;
  beforeAll(async () => {
    const server = await startChaos(
      (request, response) => void response.end(`${request.method} ${request.headers.host}`),
    );
    url = server.url;
    return () => server.close();
  });

  it('the names of functions and how many arguments they take', async () => {
    const agent = `import http from 'node:http'; import { execSync } from 'node:child_process';
      console.log([fetch, http.request, http.get, execSync].map(({ name, length }) => name + length).join());`;
    const [{ stdout }, bare] = await Promise.all([
      runAgent({ 'agent.mjs': agent }),
      run(process.execPath, ['agent.mjs'], { cwd: tempDir({ 'agent.mjs': agent }) }),
    ]);
    expect(stdout).toBe(bare.stdout.trim());
  });

  it('calls of other hosts', async () => {
    const { stdout, uris } = await runAgent({
      'agent.mjs': `import http from 'node:http'; console.log(await (await fetch('${url}')).text());
        http.get('${url}', async (reply) => { ${collect} });`,
    });
    const host = new URL(url).host;
    expect(stdout).toBe(`GET ${host}\nGET ${host}`);
    expect(uris).toEqual([]);
  });

  it('mistakes in a call give the errors they gave', async () => {
    const { stdout } = await runAgent({
      'agent.mjs': `import https from 'node:https';
        for (const wrong of [undefined, 'no address', {}, 7]) await fetch(wrong).catch((error) => console.log(error.name));
        try { https.request('::'); } catch (error) { console.log(error.code); }`,
    });
    expect(stdout.split('\n')).toEqual([
      'TypeError',
      'TypeError',
      'TypeError',
      'TypeError',
      'ERR_INVALID_URL',
    ]);
  });

  it('options of the user stay, and a main file of CommonJS is still that', async () => {
    const { stdout, slot } = await runAgent(
      { 'agent.js': `console.log(require.main === module, typeof fetch, process.execArgv.length)` },
      { env: { NODE_OPTIONS: '--max-old-space-size=512' }, args: ['agent.js'] },
    );
    expect(stdout).toBe('true function 0');
    expect(slot.env.NODE_OPTIONS).toMatch(/^--max-old-space-size=512 --require .*register\.cjs"?$/);
  });

  it('a cached decision about an address includes its method, for any number of addresses', async () => {
    const file = createRequire(import.meta.url).resolve('./register.cjs');
    const front = new URL(url).host;
    const AGENTCI_PRELOAD = JSON.stringify({
      front,
      base: `${url}/r/t/llm`,
      calls: '/chat/completions$',
    });
    const env = { PATH: process.env.PATH, AGENTCI_PRELOAD, NODE_OPTIONS: `--require ${file}` };
    // Nothing listens on port 9, so only requests through the front are answered.
    const program = `(async () => {
      const ask = (n, method) => fetch('http://127.0.0.1:9/' + n + '/chat/completions', { method }).then((reply) => reply.text(), () => 'refused');
      const said = new Set();
      for (let round = 0; round < 2; round++)
        for (let n = 0; n < 150; n++)
          for (const method of ['POST', 'GET']) said.add(method + ': ' + (await ask(n, method)));
      console.log([...said].join('; '));
    })()`;
    const { stdout } = await run(process.execPath, ['-e', program], { env });
    expect(stdout.trim()).toBe(`POST: POST ${front}; GET: refused`);
  });

  it('a damaged rule is ignored', async () => {
    const file = createRequire(import.meta.url).resolve('./register.cjs');
    for (const AGENTCI_PRELOAD of ['', '{', '7', 'null']) {
      const env = { PATH: process.env.PATH, AGENTCI_PRELOAD, NODE_OPTIONS: `--require ${file}` };
      const { stdout, stderr } = await run(process.execPath, ['-p', 'fetch.length >= 0'], { env });
      expect([stdout, stderr]).toEqual(['true\n', '']);
    }
  });

  it('a program that outlives the capture calls its provider itself', async () => {
    const file = createRequire(import.meta.url).resolve('./register.cjs');
    const AGENTCI_PRELOAD = JSON.stringify({
      front: '127.0.0.1:65530',
      base: 'http://127.0.0.1:65530/r/t/llm',
      roots: [[url, 'openai']],
    });
    const env = { PATH: process.env.PATH, AGENTCI_PRELOAD, NODE_OPTIONS: `--require ${file}` };
    const program = `fetch('${url}/v1', { method: 'POST', body: 'x' }).then((reply) => reply.text()).then(console.log)`;
    const { stdout } = await run(process.execPath, ['-e', program], { env });
    expect(stdout.trim()).toBe(`POST ${new URL(url).host}`);
  });
});

it('a program on another machine is not given a local file', async () => {
  const capture = createCapture({ planes: ['llm'], env: {}, cwd: tempDir({}), command: [] });
  onTestFinished(() => capture.close());
  const slot = await capture.open();
  onTestFinished(() => slot.close());
  expect(slot.set).not.toHaveProperty('NODE_OPTIONS');
});

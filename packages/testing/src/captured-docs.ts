import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CLI } from './cli.ts';

const KEY = 'sk-test-0123456789abcdefghij';
const USAGE = { inputTokens: 10, outputTokens: 2, totalTokens: 12 };

/**
 * Replies for the two providers that the scripted model does not support, for the single question
 * on the pages.
 */
const OTHERS: readonly (readonly [path: RegExp, reply: unknown])[] = [
  [
    /\/api\/chat$/,
    {
      model: 'llama3.2',
      created_at: '2026-01-01T00:00:00Z',
      message: { role: 'assistant', content: 'Paris.' },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 10,
      eval_count: 2,
    },
  ],
  [
    /\/converse$/,
    {
      output: { message: { role: 'assistant', content: [{ text: 'Paris.' }] } },
      stopReason: 'end_turn',
      usage: USAGE,
      metrics: { latencyMs: 1 },
    },
  ],
];

export interface DocsModel {
  /** Keys and addresses of every provider, by page. */
  readonly env: (page: string) => Record<string, string>;
  readonly close: () => Promise<void>;
}

/**
 * All providers on the capture pages behind one address: the demo's scripted model, and the other
 * two.
 */
export async function startDocsModel(root: string): Promise<DocsModel> {
  const worker = new Worker(join(root, 'demos', 'capture', 'model.mjs'));
  const model = await new Promise<string>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const server = createServer((incoming, response) => {
    const reply = OTHERS.find(([path]) => path.test(incoming.url ?? ''))?.[1];
    if (reply === undefined) passOn(incoming, response, model);
    else
      incoming
        .resume()
        .on('end', () =>
          response.setHeader('content-type', 'application/json').end(JSON.stringify(reply)),
        );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const openai = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` };
  const byPage: Readonly<Record<string, Record<string, string>>> = {
    anthropic: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url },
    'claude-code': { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url },
    gemini: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url },
    azure: { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_ENDPOINT: url },
    bedrock: { AWS_BEARER_TOKEN_BEDROCK: KEY, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url },
    ollama: { OLLAMA_HOST: url },
  };
  return {
    env: (page) => byPage[page] ?? openai,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await worker.terminate();
    },
  };
}

function passOn(incoming: IncomingMessage, response: ServerResponse, model: string): void {
  const { method, headers } = incoming;
  const sent = request(`${model}${incoming.url}`, { method: method!, headers }, (reply) => {
    response.writeHead(reply.statusCode!, reply.headers);
    reply.pipe(response);
  });
  sent.on('error', () => response.destroy());
  incoming.pipe(sent);
}

/**
 * Replacements for programs that cannot be installed here. They read the same address and send the
 * same calls.
 */
const STAND_INS = {
  claude: `const url = process.env.ANTHROPIC_BASE_URL + '/v1/messages';
const body = { model: 'claude-haiku-4-5', max_tokens: 200, messages: [{ role: 'user', content: JSON.parse(input).query }] };
const text = (reply) => reply.content[0].text;`,
  codex: `const { openai_base_url: base } = Object.fromEntries([process.argv[3].split('=')]);
const url = JSON.parse(base) + '/responses';
const body = { model: 'gpt-5-mini', input: [{ role: 'user', content: JSON.parse(input).query }] };
const text = (reply) => reply.output.flatMap(({ content = [] }) => content).map((part) => part.text).join('');`,
};

/**
 * Puts `agentci` and replacements of real commands into a folder for the PATH, and the packages
 * that agents import next to them.
 */
export function prepareFolder(cwd: string, root: string): { readonly PATH: string } {
  const bin = join(cwd, 'bin');
  mkdirSync(bin);
  const add = (name: string, text: string): void => {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  };
  add('agentci', `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`);
  for (const [name, program] of Object.entries(STAND_INS))
    add(
      name,
      `#!/usr/bin/env node
(async () => {
let input = '';
for await (const chunk of process.stdin) input += chunk;
${program}
const headers = { 'content-type': 'application/json', authorization: 'Bearer x', 'x-api-key': 'x' };
const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
console.log(text(await reply.json()));
})();
`,
    );
  symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'));
  return { PATH: `${bin}:${process.env.PATH}` };
}

// The language server: from a one-letter change in a spec of 5,000 lines to its diagnostics. Prints
// its row if run alone. npm run bench adds it to the table.
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { median } from './measure.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '..', 'packages', 'agentci', 'dist', 'cli.mjs');
const LINES = 5000;
const BOUND_MS = 50;
const CHANGES = 40;
/** The first changes run code that was not compiled yet. */
const WARM_UP = 10;

function specText() {
  const lines = ['version: 1', 'agent: support'];
  lines.push('defaults:', '  cost: {max_llm_calls: 4}', 'queries:');
  for (let i = 0; lines.length < LINES - 10; i++)
    lines.push(
      `  - id: case-${i}`,
      `    query: Where is order ${i}?`,
      '    correctness:',
      `      expected_in_answer: ["order ${i}"]`,
      '      not_in_answer: [sorry]',
      '    path:',
      '      expected_tools: [lookup_order]',
      '      forbidden_tools: ["admin_*"]',
      `      max_tool_calls: ${(i % 5) + 1}`,
      '    cost: {max_total_tokens: 4000}',
    );
  return lines;
}

/** Implements the protocol directly, because a client library would be part of the measurement. */
function startServer() {
  const child = spawn(process.execPath, [cli, 'lsp', '--stdio'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let buffer = Buffer.alloc(0);
  let onMessage = () => {};
  child.stdout.on('data', (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const end = buffer.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/Content-Length: (\d+)/.exec(buffer.toString('latin1', 0, end))[1]);
      if (buffer.length < end + 4 + length) return;
      const message = JSON.parse(buffer.toString('utf8', end + 4, end + 4 + length));
      buffer = buffer.subarray(end + 4 + length);
      onMessage(message);
    }
  });
  const send = (message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const next = () =>
    new Promise((resolve) => {
      onMessage = resolve;
    });
  return { child, send, next };
}

export async function measureEditor() {
  const { child, send, next } = startServer();
  const lines = specText();
  const uri = pathToFileURL(join(tmpdir(), 'agentci_spec.yaml')).href;
  const ask = async (message) => {
    const answer = next();
    const before = performance.now();
    send(message);
    return { answer: await answer, ms: performance.now() - before };
  };
  await ask({
    id: 1,
    method: 'initialize',
    params: { processId: null, rootUri: null, capabilities: {} },
  });
  const textDocument = { uri, languageId: 'yaml', version: 1, text: `${lines.join('\n')}\n` };
  await ask({ method: 'textDocument/didOpen', params: { textDocument } });
  const line = lines.findLastIndex((text) => text.includes('max_tool_calls'));
  const times = [];
  for (let i = 0; i < CHANGES; i++) {
    // Adds and removes a letter, so that every other text has an error.
    const isExtra = i % 2 === 0;
    const start = { line, character: 6 };
    const range = { start, end: { line, character: isExtra ? 6 : 7 } };
    const change = { range, text: isExtra ? 'x' : '' };
    const params = { textDocument: { uri, version: i + 2 }, contentChanges: [change] };
    const { answer, ms } = await ask({ method: 'textDocument/didChange', params });
    if (answer.params.diagnostics.length !== (isExtra ? 1 : 0))
      throw new Error('the findings are not those expected');
    times.push(ms);
  }
  child.kill();
  const warm = times.slice(WARM_UP).sort((a, b) => a - b);
  const p95 = warm[Math.floor(warm.length * 0.95)];
  return [
    {
      work: `editor: one change in a spec of ${LINES.toLocaleString('en')} lines`,
      measured: `${median(warm).toFixed(1)} ms median, p95 ${p95.toFixed(1)} ms (first ${times[0].toFixed(1)} ms)`,
      bound: `≤ ${BOUND_MS} ms`,
      ok: median(warm) <= BOUND_MS,
    },
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await measureEditor());

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTraces } from '@agentci/formats';
import type { RunResult } from '@agentci/results';
import { parseSpec } from '@agentci/spec';
import { type DocsModel, prepareFolder, startDocsModel } from '@agentci/testing/captured-docs';
import { cliProcess } from '@agentci/testing/cli';
import { makeDir, tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cli } from './support/cli.ts';

// Runs every YAML spec, JSON recording and command in the documentation, so that none becomes
// stale.

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => join('docs', String(name))),
].filter((name) => name.endsWith('.md'));

const CAPTURE = join('docs', 'guide', 'capture');
const CASSETTES = join('docs', 'guide', 'cassettes.md');

interface Block {
  readonly where: string;
  readonly page: string;
  readonly text: string;
}

function blocks(language: string): Block[] {
  return pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const fence = new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^\\1\`\`\``, 'gm');
    return [...text.matchAll(fence)].map((match) => ({
      where: `${page}:${text.slice(0, match.index).split('\n').length}`,
      page,
      // Blocks in lists are indented.
      text: match[2]!.replace(new RegExp(`^${match[1]}`, 'gm'), ''),
    }));
  });
}

const specs = blocks('yaml').filter(({ text }) => !text.startsWith('# policy'));

test('there is something to run', () => {
  expect(specs.length).toBeGreaterThan(20);
});

test.each(specs)('$where is a spec that loads', ({ page, text }) => {
  // Referenced files are next to the page.
  const { diagnostics } = parseSpec(text, { file: join(root, page) });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
});

test.each(blocks('json').filter(({ page }) => page.startsWith('docs/adapters/')))(
  '$where is a recording that reads',
  async ({ text }) => {
    const traces = [];
    for await (const trace of readTraces(new TextEncoder().encode(text))) traces.push(trace);
    expect(traces.length).toBeGreaterThan(0);
  },
);

/** Capture commands need an agent and a model. */
const isSelfContained = ({ page }: Block): boolean =>
  !page.startsWith(CAPTURE) && page !== CASSETTES;

/** Messages of a client of the mail server, because an idle tap has no output. */
const MAIL_SESSION = [
  {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'docs', version: '1' },
    },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: { name: 'read_inbox', arguments: {} } },
]
  .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  .join('');

describe('commands', () => {
  const commands = [
    ...new Set(
      blocks('sh')
        .filter(isSelfContained)
        .flatMap(({ text }) => text.split('\n')),
    ),
  ]
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => /^agentci /.test(line));

  const copyDemos = (cwd: string): void => {
    cpSync(join(root, 'demos', 'quickstart'), cwd, {
      recursive: true,
      filter: (path) => !path.includes('.agentci'),
    });
    cpSync(join(root, 'demos', 'policy'), cwd, { recursive: true });
    cpSync(join(root, 'demos', 'experiment'), cwd, { recursive: true });
  };

  /**
   * Stored results of a run and of another run's shards. Created once and copied for each command
   * that reads it.
   */
  let past: Promise<string> | undefined;
  afterAll(async () => {
    if (past !== undefined) rmSync(await past, { recursive: true, force: true });
  });
  async function makePast(): Promise<string> {
    const cwd = makeDir();
    copyDemos(cwd);
    await cli(['test', '--quiet'], { cwd });
    const runs = join(cwd, '.agentci', 'runs');
    cpSync(runs, join(cwd, 'artifacts'), { recursive: true });
    rmSync(runs, { recursive: true });
    for (const shard of ['1/2', '2/2']) await cli(['test', '--quiet', '--shard', shard], { cwd });
    cpSync(runs, join(cwd, 'shards'), { recursive: true });
    return cwd;
  }

  test.each(commands)('%s', async (line) => {
    const cwd = tempDir();
    copyDemos(cwd);
    if (/^agentci (guard|tap)|audit\.jsonl/.test(line)) {
      cpSync(join(root, 'demos', 'guard'), cwd, {
        recursive: true,
        filter: (path) => !path.includes('.agentci'),
      });
      const server = ['--', 'node', 'mail-server.mjs'];
      if (line.includes('explain'))
        await cli(['guard', '--policy', 'mail-policy.yaml', '--audit', 'audit.jsonl', ...server], {
          cwd,
        });
      if (line.includes('replay'))
        await cliProcess(['tap', '--cassette', 'record=mail.jsonl', ...server], {
          cwd,
          input: MAIL_SESSION,
        });
    }
    if (line.startsWith('agentci convert'))
      cpSync(join(root, 'demos', 'convert'), cwd, { recursive: true });
    writeFileSync(
      join(cwd, 'traces.json'),
      JSON.stringify({ id: 'install', query: 'How do I install AgentCI?', answer: 'npm install' }),
    );
    cpSync(join(root, 'packages/testing/recordings/tau-bench/shop.json'), join(cwd, 'trials.json'));
    // Some commands need a stored run, which a fresh clone lacks.
    if (/^agentci (report|export-metrics|save)\b/.test(line))
      await cli(['test', '--quiet'], { cwd });
    if (line.includes('--before base.json'))
      await cli(['test', '--quiet', '-f', 'json=base.json'], { cwd });
    // Others need the history, or the shards of a run, one of them missing.
    if (/^agentci (history|merge)\b|--failed-from/.test(line)) {
      past ??= makePast();
      cpSync(await past, cwd, { recursive: true });
      const [first] = readdirSync(join(cwd, 'shards')).sort();
      if (line.includes('--failed-from'))
        await cli(['merge', join('shards', first!), '--out', 'merged'], { cwd });
    }
    if (line.startsWith('agentci test -c bench/'))
      await cli(['import', 'trials.json', '--to-spec', 'bench/agentci_spec.yaml'], { cwd });
    const input = line.startsWith('agentci tap') ? { input: MAIL_SESSION } : {};
    const { code, stderr } = await cliProcess(line.split(/\s+/).slice(1), { cwd, ...input });
    // 1 is a verdict. 2 would mean that the documented command does not work.
    expect({ code, stderr: code === 2 ? stderr : '' }).toEqual({
      code: expect.toSatisfy((c: number) => c === 0 || c === 1),
      stderr: '',
    });
  });
});

describe('capture', () => {
  let model: DocsModel;
  beforeAll(async () => {
    model = await startDocsModel(root);
  });
  afterAll(() => model.close());

  const scripts = blocks('sh').filter(({ page }) => page === `${CAPTURE}.md` || page === CASSETTES);

  test.each(scripts)('$where does what it says', async ({ text, page }) => {
    const cwd = tempDir();
    cpSync(join(root, 'demos', page === CASSETTES ? 'cassette' : 'capture'), cwd, {
      recursive: true,
    });
    const env = { ...process.env, ...prepareFolder(cwd, root), ...model.env(page), NO_COLOR: '1' };
    const shell = spawn('sh', ['-e', '-c', text], { cwd, env });
    let said = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.on('data', (chunk) => {
        said += chunk;
      });
    const [code] = await once(shell, 'close');
    expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
    if (text.includes('agentci capture')) expect(said).toContain('1 tool call: get_order');
  });

  const guides = specs.filter(({ page }) => page.startsWith(`${CAPTURE}/`));

  test('there is a page per SDK', () => {
    expect(guides.map(({ page }) => page.slice(CAPTURE.length + 1, -3))).toEqual([
      'ai-sdk',
      'anthropic',
      'azure',
      'bedrock',
      'claude-code',
      'codex',
      'curl-and-others',
      'gemini',
      'langchain',
      'ollama',
      'openai',
    ]);
    const guide = readFileSync(join(root, `${CAPTURE}.md`), 'utf8');
    for (const { page } of guides)
      expect(guide).toContain(`](${page.slice('docs/guide/'.length)})`);
  });

  test.each(guides)('$where: its agent is seen in all three layers', async ({ page, text }) => {
    const cwd = tempDir();
    const { PATH } = prepareFolder(cwd, root);
    writeFileSync(join(cwd, 'agentci_spec.yaml'), text);
    for (const [, name, agent] of readFileSync(join(root, page), 'utf8').matchAll(
      /^```\w+ \[([\w.]+)\]\n([\s\S]*?)^```/gm,
    )) {
      writeFileSync(join(cwd, name!), agent!);
      expect(agent).not.toMatch(/agentci/i);
    }
    const env = { PATH, ...model.env(page.slice(CAPTURE.length + 1, -3)) };
    const { code, stdout, stderr } = await cli(['test', '-f', 'json'], { cwd, env });
    expect({ code, stderr: code === 0 ? '' : stderr + stdout }).toEqual({ code: 0, stderr: '' });
    const [result] = (JSON.parse(stdout) as RunResult).results;
    expect([result!.correctness.status, result!.path.status, result!.cost.status]).toEqual([
      'pass',
      'pass',
      'pass',
    ]);
  });
});

import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readTraces } from '../src/adapters/reader/read-traces.ts';
import { parseSpec } from '../src/spec/parse-spec.ts';
import { cli } from './support/cli.ts';
import { tempDir } from './support/temp-dir.ts';

// Every YAML spec, every JSON recording and every command the documents show is run here, so that none can go stale.

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => join('docs', String(name))),
].filter((name) => name.endsWith('.md'));

interface Block {
  readonly where: string;
  readonly page: string;
  readonly text: string;
}

function blocks(language: string): Block[] {
  return pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map((match) => ({
      where: `${page}:${text.slice(0, match.index).split('\n').length}`,
      page,
      text: match[1]!,
    }));
  });
}

const specs = blocks('yaml').filter(({ text }) => !text.startsWith('# policy'));

test('there is something to run', () => {
  expect(specs.length).toBeGreaterThan(20);
});

test.each(specs)('$where is a spec that loads', ({ text }) => {
  const { diagnostics } = parseSpec(text, { file: 'agentci_spec.yaml' });
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

describe('commands', () => {
  const commands = [...new Set(blocks('sh').flatMap(({ text }) => text.split('\n')))]
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => /^agentci /.test(line));

  test.each(commands)('%s', async (line) => {
    const cwd = tempDir();
    cpSync(join(root, 'demos', 'quickstart'), cwd, { recursive: true, filter: (path) => !path.includes('.agentci') });
    cpSync(join(root, 'demos', 'policy'), cwd, { recursive: true });
    cpSync(join(root, 'demos', 'experiment'), cwd, { recursive: true });
    writeFileSync(
      join(cwd, 'traces.json'),
      JSON.stringify({ id: 'install', query: 'How do I install AgentCI?', answer: 'npm install' }),
    );
    cpSync(join(root, 'packages/agentci/test/recordings/tau-bench/shop.json'), join(cwd, 'trials.json'));
    // Some commands read a stored run; a fresh clone has none.
    if (/^agentci (report|export-metrics|save)\b/.test(line)) await cli(['test', '--quiet'], { cwd });
    if (line.startsWith('agentci test -c bench/'))
      await cli(['import', 'trials.json', '--to-spec', 'bench/agentci_spec.yaml'], { cwd });
    const { code, stderr } = await cli(line.split(/\s+/).slice(1), { cwd });
    // 1 is a verdict; 2 would mean that the command as documented does not work.
    expect({ code, stderr: code === 2 ? stderr : '' }).toEqual({
      code: expect.toSatisfy((c: number) => c === 0 || c === 1),
      stderr: '',
    });
  });
});

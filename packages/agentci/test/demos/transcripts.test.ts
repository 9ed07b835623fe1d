import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI } from '@agentci/testing/cli';
import { node, ROOT } from '@agentci/testing/node';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { describe, expect, test } from 'vitest';

// Runs the terminal sessions in the READMEs of the demos and the playbook. The output must match.

const PAGES = [
  ...readdirSync(join(ROOT, 'demos')).map((name) => join('demos', name, 'README.md')),
  'docs/manual_testing_playbook.md',
].filter((page) => existsSync(join(ROOT, page)));

interface Command {
  readonly line: string;
  readonly output: string[];
}

/** One block is one terminal session: `cd` lasts until its end. */
function terminals(page: string): { where: string; commands: Command[] }[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```console\n([\s\S]*?)^```/gm)].map((match) => {
    const commands: Command[] = [];
    for (const line of match[1]!.trimEnd().split('\n')) {
      if (line.startsWith('$ ')) commands.push({ line: line.slice(2), output: [] });
      else commands.at(-1)?.output.push(line);
    }
    return { where: `${page}:${text.slice(0, match.index).split('\n').length}`, commands };
  });
}

/** Removes times, and anything sorted by or named after them. */
const settle = (text: string): string[] =>
  text
    .replace(/\d{8}-\d{9}-[0-9a-f]{4}/g, 'RUN')
    .replace(/\d[\d,.]* ?(ms|s)\b/g, 'TIME')
    .replace(/(Latency:).*$/gm, '$1')
    .replace(/ +$/gm, '')
    .replace(/^(slowest|most expensive):.*$/gm, '$1:')
    .trim()
    .split('\n');

/** Shown lines appear in this order in the real output. `…` stands for any number of lines. */
function shows(real: readonly string[], shown: readonly string[]): string | undefined {
  let at = 0;
  let isLoose = false;
  for (const line of shown) {
    if (line === '…') {
      isLoose = true;
      continue;
    }
    let found: number;
    if (isLoose) found = real.indexOf(line, at);
    else if (real[at] === line) found = at;
    else found = -1;
    if (found === -1) return `not in the output, or not there: ${line}\n\n${real.join('\n')}`;
    at = found + 1;
    isLoose = false;
  }
  return isLoose || at === real.length
    ? undefined
    : `the output goes on:\n${real.slice(at).join('\n')}`;
}

const workspace = workspaceCopy();

async function type(line: string, cwd: string): Promise<string> {
  const words = [...line.replace(/\s+#.*$/, '').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare!,
  );
  const env: Record<string, string> = {};
  while (/^[A-Z_]+=/.test(words[0] ?? '')) {
    const [name, value] = words.shift()!.split('=') as [string, string];
    env[name] = value;
  }
  const program = words.shift();
  if (program === 'npx' && words[0] === 'agentci')
    return (await node([CLI, ...words.slice(1)], cwd, env)).text;
  if (program === 'node') return (await node(words, cwd, env)).text;
  throw new Error(`a reader could type "${program}", this test cannot`);
}

describe.each(PAGES.flatMap(terminals).filter(({ commands }) => commands.length > 0))(
  '$where',
  ({ commands }) => {
    test('prints what it shows', { timeout: 60_000 }, async () => {
      let cwd = workspace;
      for (const { line, output } of commands) {
        if (line.startsWith('cd ')) cwd = join(workspace, line.slice(3));
        else
          expect(shows(settle(await type(line, cwd)), settle(output.join('\n')))).toBeUndefined();
      }
    });
  },
);

// Gain of a persistent Python agent: the same queries with one process each, and with a single
// process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJiti } from 'jiti';
import { median } from './measure.mjs';

/** An agent with typical imports. */
const IMPORTS = 'import json, sys, asyncio, urllib.request, http.client, dataclasses, logging\n';
const ANSWER = 'def answer(asked):\n    return {"answer": asked["query"], "tool_calls": []}\n';
const ONCE = `${IMPORTS}${ANSWER}print(json.dumps(answer(json.load(sys.stdin))))\n`;
const LOOP = `${IMPORTS}${ANSWER}for line in sys.stdin:\n    print(json.dumps(answer(json.loads(line))), flush=True)\n`;

export async function measureServe({ quick = false } = {}) {
  const jiti = createJiti(import.meta.url, { interopDefault: false });
  const { createRunner } = await jiti.import('../packages/run/src/runners/create-runner.ts');
  const dir = mkdtempSync(join(tmpdir(), 'agentci-bench-'));
  writeFileSync(join(dir, 'once.py'), ONCE);
  writeFileSync(join(dir, 'loop.py'), LOOP);
  const around = { dir, env: process.env, timeoutMs: 10_000, workers: 1 };
  const rate = async (config, queries) => {
    const runner = await createRunner({ kind: 'command', ...config }, around);
    try {
      const started = performance.now();
      for (let i = 0; i < queries; i++)
        await runner.run({
          query: `q${i}`,
          id: `q${i}`,
          run: 1,
          signal: new AbortController().signal,
        });
      return (queries / (performance.now() - started)) * 1000;
    } finally {
      await runner.close();
    }
  };
  try {
    const rounds = quick ? 1 : 3;
    const [each, one] = [[], []];
    for (let i = 0; i < rounds; i++) {
      each.push(await rate({ command: ['python3', 'once.py'] }, quick ? 10 : 30));
      one.push(await rate({ command: ['python3', 'loop.py'], mode: 'serve' }, quick ? 100 : 300));
    }
    const ratio = median(one) / median(each);
    return [
      {
        work: 'a Python agent that stays up (`mode: serve`), one worker',
        measured: `${ratio.toFixed(1)} × (${median(one).toFixed(0)} against ${median(each).toFixed(0)} queries a second)`,
        bound: '≥ 5 × a process for each query',
        ok: ratio >= 5,
      },
    ];
  } finally {
    rmSync(dir, { recursive: true });
  }
}

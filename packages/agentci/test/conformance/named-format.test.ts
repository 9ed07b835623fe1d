import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TraceProblem } from '@agentci/formats';
import { ADAPTERS, readTraceItems } from '@agentci/formats';
import type { Trace } from '@agentci/trace';
import { toolNames } from '@agentci/trace';
import { describe, expect, test } from 'vitest';

const FORMATS = ADAPTERS.map(({ format }) => format);
const OWN = fileURLToPath(new URL('../../../testing/recordings', import.meta.url));

async function readAs(bytes: Uint8Array, format?: string) {
  const traces: Trace[] = [];
  const problems: TraceProblem[] = [];
  for await (const item of readTraceItems(bytes, format === undefined ? {} : { format })) {
    if (item.ok) traces.push(item.trace);
    else problems.push(item.problem);
  }
  return { traces, problems };
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('naming a format does not switch recognition off', () => {
  test.each(FORMATS)('%s reads no nonsense', async (format) => {
    for (const nonsense of [
      '{"a":1}',
      '[1',
      '[1, 2]',
      '[[]]',
      'null',
      '{}',
      '[{}]',
      '{"messages":[]}',
      'hello',
    ])
      expect((await readAs(text(nonsense), format)).traces, nonsense).toEqual([]);
  });

  const deletion = JSON.stringify([
    { role: 'user', content: 'Tidy up.' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'delete_all', input: {} }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'All tidy.' }] },
  ]);

  test.each(FORMATS)(
    'an Anthropic conversation named %s shows its call or is refused',
    async (format) => {
      const { traces, problems } = await readAs(text(deletion), format);
      for (const trace of traces) expect(toolNames(trace)).toEqual(['delete_all']);
      if (traces.length > 0) return;
      expect(problems).not.toEqual([]);
      for (const problem of problems)
        expect(problem).toMatchObject({
          code: 'TRACE_NOT_FORMAT',
          message: expect.stringContaining(format),
        });
    },
  );

  test('the refusal says what the record looks like', async () => {
    const line = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'rm', arguments: {} },
    });
    const { problems } = await readAs(text(line), 'codex-cli');
    expect(problems).toMatchObject([
      { code: 'TRACE_NOT_FORMAT', message: expect.stringContaining('looks like mcp') },
    ]);
  });

  const recordings = readdirSync(OWN).flatMap((folder) =>
    readdirSync(join(OWN, folder)).map((file) => join(folder, file)),
  );

  test.each(recordings)(
    '%s, named as any other format, never loses a call in silence',
    async (file) => {
      const bytes = readFileSync(join(OWN, file));
      const calls = (traces: readonly Trace[]): number => traces.flatMap(toolNames).length;
      const own = calls((await readAs(bytes)).traces);
      for (const format of FORMATS) {
        const { traces, problems } = await readAs(bytes, format);
        const claimsAll =
          problems.length === 0 && traces.every(({ captured }) => captured.toolCalls === 'full');
        if (claimsAll && traces.length > 0) expect(calls(traces), format).toBe(own);
        expect(traces.length + problems.length, format).toBeGreaterThan(0);
      }
    },
  );
});

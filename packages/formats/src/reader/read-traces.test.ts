import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { UserError } from '@agentci/lib/problems';
import type { Trace } from '@agentci/trace';
import { finalText, queryText, simpleTrace } from '@agentci/trace';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Adapter, AdapterItem, TraceProblem } from '../adapter.ts';
import { readTraceItems, readTraces } from './read-traces.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentci-traces-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const fileOf = (content: string | Uint8Array, name = 'a.json'): string => {
  const path = join(folder, String(++files));
  mkdirSync(path);
  writeFileSync(join(path, name), content);
  return join(path, name);
};

const itemsOf = async (source: string | Uint8Array, options = {}): Promise<AdapterItem[]> => {
  const items: AdapterItem[] = [];
  for await (const item of readTraceItems(source, options)) items.push(item);
  return items;
};
const answers = (items: readonly AdapterItem[]) =>
  items.map((item) => (item.ok ? finalText(item.trace) : item.problem.code));
const bytes = (text: string) => Buffer.from(text);

const A = { query: 'qa', answer: 'a' };
const B = { query: 'qb', answer: 'b' };
const lines = `${JSON.stringify(A)}\n${JSON.stringify(B)}\n`;

describe('reading traces', () => {
  test.each([
    { when: 'a JSON object', content: JSON.stringify(A, null, 2), want: ['a'] },
    { when: 'a JSON list', content: JSON.stringify([A, B]), want: ['a', 'b'] },
    { when: 'lines', content: lines, want: ['a', 'b'] },
    { when: 'lines without an end', content: lines.trim(), want: ['a', 'b'] },
    {
      when: 'a wrapper',
      content: JSON.stringify({ made: 1, traces: [A, B], by: {} }, null, 1),
      want: ['a', 'b'],
    },
    {
      when: 'native traces',
      content: JSON.stringify([simpleTrace(A), simpleTrace(B)]),
      want: ['a', 'b'],
    },
    { when: 'bare answers', content: '"a"\n"b"\n', want: ['a', 'b'] },
    {
      when: 'formats mixed line by line',
      content: `${JSON.stringify(simpleTrace(A))}\n${JSON.stringify(B)}\n`,
      want: ['a', 'b'],
    },
    {
      when: 'formats mixed the other way',
      content: `${JSON.stringify(B)}\n${JSON.stringify(simpleTrace(A))}\n`,
      want: ['b', 'a'],
    },
    {
      when: 'an AgentUnit log',
      content: '{"events":[{"type":"agent_response","payload":{"content":"a"}}]}',
      want: ['a'],
    },
  ])('from $when, as file, as bytes, and packed', async ({ content, want }) => {
    expect(answers(await itemsOf(fileOf(content)))).toEqual(want);
    expect(answers(await itemsOf(bytes(content)))).toEqual(want);
    expect(answers(await itemsOf(gzipSync(content)))).toEqual(want);
    expect(answers(await itemsOf(fileOf(gzipSync(content), 'named-otherwise.json')))).toEqual(want);
  });

  test('a baseline file gives its trace, with the query it was saved for', async () => {
    const wrapped = {
      schema: 'agentci.baseline/1',
      version: 'v1',
      agent: 'x',
      query: 'What?',
      query_id: 'q-1',
    };
    for (const trace of [{ answer: 'a' }, simpleTrace('a')]) {
      const [item] = await itemsOf(bytes(JSON.stringify({ ...wrapped, trace })));
      expect(item).toMatchObject({
        ok: true,
        trace: { task: { id: 'q-1' }, final: { text: 'a' } },
      });
      expect(item?.ok === true && queryText(item.trace)).toBe('What?');
    }
  });

  test('traces say where they were read', async () => {
    const file = fileOf(lines, 'a.jsonl');
    expect(await itemsOf(file)).toMatchObject([
      { trace: { id: `${file}#1`, source: { file, line: 1 } } },
      { trace: { id: `${file}#2`, source: { file, line: 2 } } },
    ]);
  });

  test('a format can be named', async () => {
    const log = bytes('{"metadata":{},"handoffs":[],"interactions":[]}');
    expect(await itemsOf(log, { format: 'agentunit' })).toMatchObject([
      { ok: true, trace: { source: { format: 'agentunit' } } },
    ]);
    await expect(itemsOf(log, { format: 'agentunits' })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      hint: expect.stringContaining('agentunit'),
    });
  });

  test('can be stopped', async () => {
    const controller = new AbortController();
    controller.abort(new Error('stop'));
    await expect(itemsOf(bytes(lines), { signal: controller.signal })).rejects.toThrow('stop');
    for await (const trace of readTraces(fileOf(lines))) {
      expect(finalText(trace)).toBe('a');
      break;
    }
  });
});

describe('unreadable input', () => {
  test.each<{
    when: string;
    content: string | Uint8Array;
    want: (string | Partial<TraceProblem>)[];
  }>([
    { when: 'an empty file', content: '', want: [{ code: 'TRACE_DAMAGED', line: 1 }] },
    { when: 'a blank file', content: ' \n\n', want: [{ code: 'TRACE_DAMAGED' }] },
    { when: 'an empty list', content: '[]', want: [{ code: 'TRACE_DAMAGED' }] },
    {
      when: 'a broken line',
      content: `${JSON.stringify(A)}\n{"id":"q7","query":"who?","answer":}\n${JSON.stringify(B)}\n`,
      want: ['a', { code: 'TRACE_DAMAGED', line: 2, column: 36, id: 'q7', query: 'who?' }, 'b'],
    },
    {
      when: 'a cut line',
      content: `${lines}{"answer":"c`,
      want: ['a', 'b', { code: 'TRACE_DAMAGED', line: 3 }],
    },
    {
      when: 'a cut document',
      content: '{"answer": "a"',
      want: [{ code: 'TRACE_DAMAGED', line: 1 }],
    },
    {
      when: 'another format',
      content: '{"foo":1}',
      want: [{ code: 'TRACE_UNKNOWN_FORMAT', line: 1 }],
    },
    {
      when: 'numbers',
      content: '1\n2\n',
      want: [
        { code: 'TRACE_UNKNOWN_FORMAT', line: 1 },
        { code: 'TRACE_UNKNOWN_FORMAT', line: 2 },
      ],
    },
    {
      when: 'one odd record first',
      content: `{"foo":1}\n${lines}`,
      want: [{ code: 'TRACE_UNKNOWN_FORMAT' }, 'a', 'b'],
    },
    {
      when: 'a bad field',
      content: `${JSON.stringify(A)}\n{"id":"q2","answer":"x","tool_calls":{}}`,
      want: ['a', { code: 'TRACE_BAD_FIELD', line: 2, id: 'q2' }],
    },
    {
      when: 'a newer version',
      content: '{"schema":"agentci.trace/2","id":"q3"}',
      want: [{ code: 'TRACE_VERSION', id: 'q3' }],
    },
    {
      when: 'a native trace with a hole',
      content: '{"schema":"agentci.trace/1","id":"q3"}',
      want: [{ code: 'TRACE_BAD_FIELD' }],
    },
    {
      when: 'bad UTF-8',
      content: Buffer.concat([bytes(lines), Buffer.from([0x22, 0xff, 0x22])]),
      want: ['a', 'b', { code: 'TRACE_DAMAGED', line: 3 }],
    },
    {
      when: 'a deep record',
      content: `${JSON.stringify(A)}\n${'['.repeat(1e6)}${']'.repeat(1e6)}\n`,
      want: ['a', { code: 'TRACE_TOO_LARGE', line: 2 }],
    },
    {
      when: 'cut gzip',
      content: gzipSync(lines.repeat(50)).subarray(0, 60),
      want: [{ code: 'TRACE_DAMAGED' }],
    },
    {
      when: 'damaged gzip',
      content: Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 255, 255, 255]),
      want: [{ code: 'TRACE_DAMAGED' }],
    },
    {
      when: 'prototype keys',
      content: '{"__proto__":{"answer":"x"},"constructor":1}',
      want: [{ code: 'TRACE_UNKNOWN_FORMAT' }],
    },
  ])('$when is a located problem', async ({ content, want }) => {
    const items = await itemsOf(fileOf(content));
    const last = items.at(-1);
    // Text after which a cut-off gzip ends may have given records before.
    const seen = want.length === 1 && last?.ok === false ? [last] : items;
    const codes = seen.map((item) => (item.ok ? finalText(item.trace) : item.problem));
    expect(codes).toMatchObject(want);
    for (const item of seen) if (!item.ok) expect(item.problem.file).toBeDefined();
  });

  test.each([
    ['{"foo":1,"bar":2}', 'it is an object with "foo", "bar" (docs/adapters lists the formats)'],
    ['{}', 'it is an object without keys ('],
    ['[[1, 2]]', 'it is a list of 2 ('],
    ['7', 'it is the number 7 ('],
    ['null', 'it is null ('],
    [`{${Array.from({ length: 12 }, (_, i) => `"key${i}": 1`).join()}}`, '"key7" and 4 more ('],
  ])('%s gets the apparent format in its message', async (text, says) => {
    const [item] = await itemsOf(bytes(text));
    expect(item?.ok === false && item.problem.message).toContain(says);
  });

  test('the formats that a record has something of are named, not all of them', async () => {
    const [item] = await itemsOf(bytes('{"type":"finish","x":1}'));
    const message = item?.ok === false ? item.problem.message : '';
    expect(message).toContain('; nearest: vercel-ai-sdk (docs/adapters lists the formats)');
  });

  test('two formats that fit alike are not guessed between', async () => {
    const fits = (format: string, confidence: number): Adapter => ({
      format,
      summary: format,
      unit: 'record',
      detect: () => confidence,
      read: () => [],
    });
    const adapters = [fits('one', 0.8), fits('two', 0.75), fits('three', 0.6)];
    const [item] = await itemsOf(bytes('{}'), { adapters });
    expect(item).toMatchObject({ ok: false, problem: { code: 'TRACE_AMBIGUOUS_FORMAT' } });
    expect(item?.ok === false && item.problem.message).toContain('one or two');
  });

  test('an adapter that joins records gets all records of the file at once', async () => {
    const joining: Adapter = {
      format: 'spans',
      summary: 'spans',
      unit: 'file',
      detect: () => 1,
      read: (records) => [
        {
          ok: true,
          trace: simpleTrace(records.map(({ value }) => (value as { s: string }).s).join('')),
        },
      ],
    };
    const items = await itemsOf(bytes('{"s":"x"}\n{"s"\n{"s":"y"}\n'), { adapters: [joining] });
    expect(answers(items)).toEqual(['TRACE_DAMAGED', 'xy']);
  });

  test('without a listener the problems are thrown together, after the good traces', async () => {
    const file = fileOf(`${JSON.stringify(A)}\n{\n}}\n${JSON.stringify(B)}\n`, 'a.jsonl');
    const seen: Trace[] = [];
    const reading = (async () => {
      for await (const trace of readTraces(file)) seen.push(trace);
    })();
    await expect(reading).rejects.toBeInstanceOf(UserError);
    await expect(reading).rejects.toMatchObject({
      code: 'TRACE_UNREADABLE',
      diagnostics: [
        { code: 'TRACE_DAMAGED', file, line: 2 },
        { code: 'TRACE_DAMAGED', file, line: 3 },
      ],
    });
    expect(seen.map(finalText)).toEqual(['a', 'b']);
    const heard: TraceProblem[] = [];
    for await (const _ of readTraces(file, { onProblem: (problem) => heard.push(problem) })) void _;
    expect(heard).toHaveLength(2);
  });
});

describe('a folder', () => {
  test('is read below, by name, without hidden files, other endings and links that leave it', async () => {
    const outside = fileOf(JSON.stringify({ answer: 'outside' }));
    const root = join(folder, 'tree');
    mkdirSync(join(root, 'b', 'deep'), { recursive: true });
    mkdirSync(join(root, '.hidden'));
    writeFileSync(join(root, 'c.json'), JSON.stringify({ answer: 'c' }));
    writeFileSync(
      join(root, 'a.ndjson'),
      `${JSON.stringify({ answer: 'a1' })}\n${JSON.stringify({ answer: 'a2' })}`,
    );
    writeFileSync(join(root, 'b', 'deep', 'x.jsonl.gz'), gzipSync(lines));
    writeFileSync(join(root, 'notes.md'), 'not a recording');
    writeFileSync(join(root, '.secret.json'), '{"answer":"hidden"}');
    writeFileSync(join(root, '.hidden', 'y.json'), '{"answer":"hidden"}');
    symlinkSync(outside, join(root, 'link.json'));
    symlinkSync(root, join(root, 'b', 'loop'));
    symlinkSync(join(root, 'gone'), join(root, 'broken.json'));
    symlinkSync(join(root, 'c.json'), join(root, 'd.json'));
    expect(answers(await itemsOf(root))).toEqual(['a1', 'a2', 'a', 'b', 'c', 'c']);
  });

  test('without recordings, and a path that is not there, are mistakes of the user', async () => {
    mkdirSync(join(folder, 'bare'));
    await expect(itemsOf(join(folder, 'bare'))).rejects.toMatchObject({
      code: 'TRACE_NO_RECORDINGS',
    });
    await expect(itemsOf(join(folder, 'gone'))).rejects.toMatchObject({ code: 'TRACES_MISSING' });
  });
});

test('no bytes at all make the reader throw', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.json().map(bytes)),
      async (input) => {
        for (const item of await itemsOf(input)) expect(typeof item.ok).toBe('boolean');
      },
    ),
  );
});

test('a file of 50 MB is streamed: memory does not follow its size', async () => {
  const file = join(folder, 'large.jsonl');
  const line = `${JSON.stringify({ ...A, tool_calls: [{ name: 't', args: { q: 'x'.repeat(900) }, result: 'y' }] })}\n`;
  const block = line.repeat(1000);
  const handle = openSync(file, 'w');
  for (let written = 0; written < 50_000_000; written += block.length) writeSync(handle, block);
  closeSync(handle);
  const before = process.memoryUsage.rss();
  let peak = before;
  let count = 0;
  for await (const item of readTraceItems(file)) {
    if (item.ok) count++;
    if (count % 1000 === 0) peak = Math.max(peak, process.memoryUsage.rss());
  }
  expect(count).toBeGreaterThanOrEqual(50_000);
  expect((peak - before) / 1e6).toBeLessThan(150);
});

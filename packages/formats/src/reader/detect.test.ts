import { gzipSync } from 'node:zlib';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { Adapter } from '../adapter.ts';
import { detectFormat } from './detect.ts';

describe('detecting the format', () => {
  test.each([
    { input: JSON.stringify(simpleTrace('x')), format: 'agentci', atLeast: 1 },
    { input: '{"schema":"agentci.trace/7"}', format: 'agentci', atLeast: 1 },
    {
      input: '{"query":"q","answer":"a","tool_calls":[{"name":"t"}]}',
      format: 'simple',
      atLeast: 0.9,
    },
    {
      input: '{"query":"q","answer":"a"}\n{"query":"r","answer":"b"}',
      format: 'simple',
      atLeast: 0.9,
    },
    { input: '"a bare answer"', format: 'simple', atLeast: 0.5 },
    { input: '{"answer":"a","events_seen":3}', format: 'simple', atLeast: 0.6 },
    {
      input:
        '{"events":[{"type":"tool_call","payload":{"name":"t"},"created_at":"2026-01-01T00:00:00Z"}]}',
      format: 'agentunit',
      atLeast: 0.9,
    },
    { input: '{"events":[]}', format: 'agentunit', atLeast: 0.6 },
    { input: '{"interactions":[],"agent_roles":{}}', format: 'agentunit', atLeast: 0.6 },
    { input: '{"answer":"a","interactions":[]}', format: 'simple', atLeast: 0.9 },
    { input: '{"traces":[{"answer":"a"}]}', format: 'simple', atLeast: 0.9 },
    {
      input: `{"schema":"agentci.baseline/1","agent":"x","version":"1","query":"q","trace":${JSON.stringify(simpleTrace('x'))}}`,
      format: 'agentci',
      atLeast: 1,
    },
  ])('$input.length characters are $format', ({ input, format, atLeast }) => {
    for (const given of [input, Buffer.from(input), gzipSync(input)]) {
      const detection = detectFormat(given);
      expect(detection).toMatchObject({ format, candidates: [{ format }] });
      expect(detection.confidence).toBeGreaterThanOrEqual(atLeast);
    }
  });

  test.each(['', '{}', '[]', '5', '{"foo":1}', 'not json', '{"__proto__":{"answer":1}}'])(
    '%s is nothing known',
    (input) => {
      expect(detectFormat(input)).toEqual({ format: undefined, confidence: 0, candidates: [] });
    },
  );

  test.each([
    '{"role":"user","content":"hello"}',
    '{"id":"x","model":"m","metadata":{}}',
    '{"type":"tool_call","payload":{}}',
  ])('a record that could be anything is not claimed', (input) => {
    expect(detectFormat(input).confidence).toBeLessThan(0.5);
  });

  test('damaged gzip is nothing known', () => {
    expect(detectFormat(Buffer.from([0x1f, 0x8b, 8, 0, 255, 255, 255])).format).toBeUndefined();
  });

  test('two formats that fit alike are both reported', () => {
    const like = (format: string, confidence: number): Adapter => ({
      format,
      summary: format,
      unit: 'record',
      detect: () => confidence,
      read: () => [],
    });
    expect(
      detectFormat('{}', [like('a', 0.7), like('b', 0.75), like('c', 0.4)]).candidates,
    ).toEqual([
      { format: 'b', confidence: 0.75 },
      { format: 'a', confidence: 0.7 },
    ]);
    expect(detectFormat('{}', [like('a', 0.3), like('b', 0.35)]).candidates).toHaveLength(1);
  });
});

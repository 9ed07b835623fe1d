import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { GAPS } from '../build/gap-kinds.ts';
import { ADAPTERS } from '../index.gen.ts';
import { detectFormat } from '../reader/detect.ts';
import { readTraceItems } from '../reader/read-traces.ts';

/** Protobuf has no text to show. */
const FORMATS = ADAPTERS.map(({ format }) => format).filter((format) => format !== 'otlp-protobuf');

test('the list of formats explains every sign of a gap', () => {
  const page = readFileSync(
    new URL('../../../../docs/adapters/README.md', import.meta.url),
    'utf8',
  );
  for (const { code } of Object.values(GAPS)) expect(page).toContain(`\`${code}\``);
});

test('every format has a test next to it', () => {
  const missing = ADAPTERS.map(({ format }) => format).filter(
    (format) => !existsSync(new URL(`./${format}/${format}.test.ts`, import.meta.url)),
  );
  expect(missing).toEqual([]);
});

describe.each(FORMATS)('the page of %s', (format) => {
  const page = new URL(`../../../../docs/adapters/${format}.md`, import.meta.url);

  test('says what proves capture', () => {
    expect(readFileSync(page, 'utf8')).toMatch(/What proves capture/);
  });

  test('has examples that are read in that format, without a problem', async () => {
    expect(existsSync(page)).toBe(true);
    const examples = [...readFileSync(page, 'utf8').matchAll(/```json\n([\s\S]*?)```/g)].map(
      (match) => match[1] ?? '',
    );
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect(detectFormat(example)).toMatchObject({ format, candidates: [{ format }] });
      for await (const item of readTraceItems(Buffer.from(example))) {
        expect(item).toMatchObject({ ok: true, trace: { warnings: [] } });
      }
    }
  });
});

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { rowOfFile } from '../../agentci/test/conformance/row.ts';
import { makeRecordings } from '../src/make.ts';

const kept = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'agentci-recorder-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(['openai-chat-completions', 'langchain-langgraph', 'mcp', 'otlp-protobuf'])(
  '%s',
  (format) => {
    test('says today what its kept recordings say, down to the bytes', async () => {
      const made = await makeRecordings([format], folder);
      expect(made.length).toBeGreaterThan(0);
      const rows = JSON.parse(
        readFileSync(kept(`agentci/test/conformance/own/${format}.json`), 'utf8'),
      );
      for (const file of readdirSync(join(folder, format))) {
        expect(await rowOfFile(join(folder, format, file)), file).toEqual(rows[file]);
        const [now, before] = [
          join(folder, format, file),
          kept(`testing/recordings/${format}/${file}`),
        ].map((path) => readFileSync(path));
        expect(
          now!.equals(before!),
          `${format}/${file} differs: run the recorder and read the difference`,
        ).toBe(true);
      }
    });
  },
);

test('a format nobody records is refused with the ones that are', async () => {
  await expect(makeRecordings(['__proto__'], folder)).rejects.toThrow(
    /no recorder for __proto__; there are .*mcp/,
  );
});

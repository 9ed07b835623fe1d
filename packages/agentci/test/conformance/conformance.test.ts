import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADAPTERS, detectFormat, readTraceItems } from '@agentci/formats';
import { describeOutside } from '@agentci/testing/outside';
import { validateTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { type FileRow, rowOfFile } from './row.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const OWN = here('../../../testing/recordings');

/** Files stored in a folder for a reason other than their format. */
const OTHERWISE: Readonly<Record<string, string>> = {
  // Spans in a list, which that program imports too.
  'assay/assay_otel_genai_trace.jsonl': 'otel-genai',
};

type Rows = Readonly<Record<string, FileRow>>;

const foldersIn = (root: string): string[] =>
  existsSync(root)
    ? readdirSync(root, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
    : [];

const rowsFor = (kind: 'own' | 'public', folder: string): Rows => {
  const file = here(`./${kind}/${folder}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
};

function conforms(kind: 'own' | 'public', root: string): void {
  for (const folder of foldersIn(root)) {
    describe(folder, () => {
      const rows = rowsFor(kind, folder);
      const files = readdirSync(join(root, folder)).sort();

      test('every file has a row, and every row its file', () => {
        expect(Object.keys(rows).sort()).toEqual(files);
      });

      test.each(files)('%s reads as its row says', async (file) => {
        const path = join(root, folder, file);
        expect(await rowOfFile(path)).toEqual(rows[file]);
        const format = rows[file]?.format;
        if (format !== null)
          expect(detectFormat(readFileSync(path))).toMatchObject({
            format,
            candidates: [{ format }],
          });
      });

      test.each(files)('%s gives traces that the trace model accepts', async (file) => {
        for await (const item of readTraceItems(join(root, folder, file)))
          if (item.ok)
            expect(validateTrace(JSON.parse(JSON.stringify(item.trace)))).toMatchObject({
              ok: true,
            });
      });

      test('is the format the files are read as', () => {
        for (const [file, row] of Object.entries(rows))
          if (row.format !== null)
            expect(row.format).toBe(OTHERWISE[`${folder}/${file}`] ?? folder);
      });
    });
  }
}

describe('our own recordings', () => {
  test('there is one for every format', () => {
    expect(foldersIn(OWN)).toEqual(ADAPTERS.map(({ format }) => format).sort());
  });
  conforms('own', OWN);
});

describeOutside('public recordings', 'traces', (folder) => conforms('public', folder));

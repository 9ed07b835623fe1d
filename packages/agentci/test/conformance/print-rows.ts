// Prints the rows of a folder of recordings, to be checked by eye before they are kept:
//   npx jiti packages/agentci/test/conformance/print-rows.ts FOLDER > packages/agentci/test/conformance/own/FORMAT.json
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { rowOfFile } from './row.ts';

const [folder = '.'] = process.argv.slice(2);
const rows = Object.fromEntries(
  await Promise.all(
    readdirSync(folder)
      .sort()
      .map(async (file) => [file, await rowOfFile(join(folder, file))] as const),
  ),
);
process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);

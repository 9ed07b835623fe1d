// Prints the rows of a folder of recordings, to be checked by eye before they are kept:
//   npx jiti packages/agentci/test/conformance/print-rows.ts FOLDER > packages/agentci/test/conformance/own/FORMAT.json
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type FileRow, rowOfFile } from './row.ts';

const [folder = '.'] = process.argv.slice(2);
const rows: Record<string, FileRow> = {};
for (const file of readdirSync(folder).sort()) rows[file] = await rowOfFile(join(folder, file));
process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);

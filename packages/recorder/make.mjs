// Regenerates the test recordings: node packages/recorder/make.mjs [FORMAT…] The default is all
// formats. The output is deterministic. README.md explains how.
import { createJiti } from 'jiti';

const { makeRecordings } = await createJiti(import.meta.url).import('./src/make.ts');
for (const file of await makeRecordings(process.argv.slice(2))) process.stdout.write(`${file}\n`);

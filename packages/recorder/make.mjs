// Makes the recordings of the tests again: node packages/recorder/make.mjs [FORMAT…]
// Without a name, all of them. What is written is the same from run to run; README.md says how.
import { createJiti } from 'jiti';

const { makeRecordings } = await createJiti(import.meta.url).import('./src/make.ts');
for (const file of await makeRecordings(process.argv.slice(2))) process.stdout.write(`${file}\n`);

// Starts a scripted model: node packages/scripted-model/bin.mjs script.json [port] The script is a
// JSON list of replies, see src/script.ts.
import { readFileSync } from 'node:fs';
import { createJiti } from 'jiti';

const [file, port = '0'] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: node packages/scripted-model/bin.mjs script.json [port]\n');
  process.exit(2);
}
const { startScriptedModel } = await createJiti(import.meta.url).import('./src/index.ts');
const { url } = await startScriptedModel({
  script: JSON.parse(readFileSync(file, 'utf8')),
  port: Number(port),
});
process.stdout.write(`${url}\n`);

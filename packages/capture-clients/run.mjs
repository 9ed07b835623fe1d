// Runs one agent: node packages/capture-clients/run.mjs FILE ARGUMENTS…
import { createJiti } from 'jiti';

const [file] = process.argv.splice(2, 1);
await createJiti(import.meta.url).import(`./agents/${file}`);

#!/usr/bin/env node
// Committed, so that npm can link it before the program is built; in a published package the build is always there.
import { existsSync } from 'node:fs';

const program = new URL('../dist/cli.mjs', import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write('agentci: this clone is not built yet\n  hint: npm run build\n');
  process.exitCode = 2;
}

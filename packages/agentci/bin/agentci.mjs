#!/usr/bin/env node
// Committed, so that npm can link it before the program is built; in a published package the build is always there.
import { existsSync } from 'node:fs';
import module from 'node:module';

const program = new URL('../dist/cli.mjs', import.meta.url);
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Node ${process.versions.node} is too old: AgentCI needs Node 20.19 or newer`);
} else if (existsSync(program)) {
  // Node 22 and later can keep compiled code between runs.
  module.enableCompileCache?.();
  await import(program);
} else {
  fail('this clone is not built yet\n  hint: npm run build');
}

function fail(message) {
  process.stderr.write(`agentci: ${message}\n`);
  process.exitCode = 2;
}

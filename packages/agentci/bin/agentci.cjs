#!/usr/bin/env node
// Committed, so that npm can link it before the program is built; in a published package the build is always there.
'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const [major, minor] = process.versions.node.split('.').map(Number);
const program = join(__dirname, '..', 'dist', 'cli.cjs');
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `agentci: Node ${process.versions.node} is too old: AgentCI needs Node 20.19 or newer\n`,
  );
  process.exitCode = 2;
} else if (existsSync(program)) {
  require(program);
} else {
  process.stderr.write('agentci: this clone is not built yet\n  hint: npm run build\n');
  process.exitCode = 2;
}

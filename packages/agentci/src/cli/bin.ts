#!/usr/bin/env node
import { VERSION } from './version.gen.ts';

// The two commonest calls load nothing else: they answer in the time Node itself needs to start.
const argv = process.argv.slice(2);
const [first] = argv;
if (first === '--version' || first === '-V') {
  process.stdout.write(`${VERSION}\n`);
} else if (first === '--help' || first === '-h' || (first === 'help' && argv.length === 1)) {
  const { helpText } = await import('./help.ts');
  process.stdout.write(helpText(VERSION));
} else if (
  (first !== 'guard' && first !== 'tap') ||
  !(await (await import('./mcp/lean.ts')).startLean(argv, VERSION))
) {
  const { start } = await import('./start.ts');
  await start(argv, VERSION);
}

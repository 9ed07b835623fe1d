import { VERSION } from './version.gen.ts';

/** Node's code for a promise that never settles; `start` reports it. */
const UNSETTLED = 13;

const argv = process.argv.slice(2);
const [first] = argv;
// The most common call loads nothing else, to answer quickly.
if (first === '--version' || first === '-V') process.stdout.write(`${VERSION}\n`);
else run();

function run(): void {
  let hasEnded = false;
  // If work waits for a promise that never settles, Node runs out of work and would exit with 0.
  process.once('beforeExit', () => {
    if (!hasEnded) process.exitCode = UNSETTLED;
  });
  void answer().then(() => {
    hasEnded = true;
  });
}

async function answer(): Promise<void> {
  if (first === '--help' || first === '-h' || (first === 'help' && argv.length === 1)) {
    const { helpText } = await import('./help.ts');
    process.stdout.write(helpText(VERSION));
    return;
  }
  const { start } = await import('./start.ts');
  await start(argv, VERSION);
}

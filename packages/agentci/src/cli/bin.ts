import { ChunkLoader } from './launch/chunk-loader.ts';
import { compileLess } from './launch/compile-less.ts';
import { VERSION } from './version.gen.ts';

type Help = typeof import('./help.ts');
type Lean = typeof import('./mcp/lean.ts');
type Start = typeof import('./start.ts');

/** Node's own code for a promise that is never settled; `start` has the words for it. */
const UNSETTLED = 13;

const argv = process.argv.slice(2);
const [first] = argv;
// The commonest call loads nothing else: it answers in the time Node itself needs to start.
if (first === '--version' || first === '-V') process.stdout.write(`${VERSION}\n`);
else run(new ChunkLoader(first));

function run(loader: ChunkLoader): void {
  // Before a chunk is loaded: compiled code is kept together with the settings it was made under.
  compileLess(first);
  let hasEnded = false;
  // Work that waits for what will never come leaves Node with nothing to do, which by itself is exit 0.
  process.once('beforeExit', () => {
    if (!hasEnded) process.exitCode = UNSETTLED;
  });
  void start(loader).then(() => {
    hasEnded = true;
  });
}

async function start(loader: ChunkLoader): Promise<void> {
  if (first === '--help' || first === '-h' || (first === 'help' && argv.length === 1)) {
    process.stdout.write(loader.load<Help>('help.cjs').helpText(VERSION));
    return;
  }
  // A guard and a tap have a lean way in: clients start them in place of a server, and wait.
  if (
    (first === 'guard' || first === 'tap') &&
    (await loader.load<Lean>('mcp.cjs').startLean(argv, VERSION))
  )
    return;
  await loader.load<Start>('start.cjs').start(argv, VERSION);
}

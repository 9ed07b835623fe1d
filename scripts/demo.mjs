// The first look: a real suite on recorded traces, no key, no network.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const cli = join(root, 'packages', 'agentci', 'dist', 'cli.mjs');

say('Three recorded runs of a documentation assistant, checked by demos/quickstart/agentci_spec.yaml.');
say('One should pass, one takes eleven searches to say no, one makes up an answer.\n');
agentci(['validate', 'agentci_spec.yaml'], 0);
agentci(['test', '-f', 'console', '-f', 'json=.agentci/results.json'], 1);
say('Exit code 1 would stop the build: the load-balancer answer was made up. The weather query only warns.\n');
say('Next:');
say('  open demos/quickstart/agentci_spec.yaml and change a limit, then run npm run demo again');
say('  npx agentci test --help');

function agentci(args, expected) {
  say(`$ agentci ${args.join(' ')}`);
  const { status } = spawnSync(process.execPath, [cli, ...args], {
    cwd: join(root, 'demos', 'quickstart'),
    stdio: 'inherit',
  });
  if (status !== expected) {
    say(`\nThe demo expected exit code ${expected} and got ${status}: something is wrong with this checkout.`);
    process.exit(1);
  }
  say('');
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

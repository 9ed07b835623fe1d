// The introduction in a few commands: a prompt that made an agent waste searches and invent
// answers, and the fixed prompt. Runs a real LangGraph agent. Its model is scripted, so it needs no
// key and no network.
//   npm run demo -- --live     the same with a real model (OPENAI_API_KEY)
import { spawnSync } from 'node:child_process';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const cli = join(root, 'packages', 'agentci', 'dist', 'cli.mjs');
const cwd = join(root, 'demos', 'rag');
const report = join(cwd, '.agentci', 'report.html');
const isLive = process.argv.includes('--live');

if (isLive && !process.env.OPENAI_API_KEY) {
  say('--live asks a real model: set OPENAI_API_KEY, or leave it out.');
  process.exit(2);
}
// The stored verdicts are for the scripted model's answers. A real model gives others.
const judging = ['--judge', isLive ? 'off' : 'recorded'];
const story = ['test', '-t', 'story', '-w', '1', ...judging, '-f', 'console'];

say(
  'An assistant answers questions about a documentation. demos/rag/agentci_spec.yaml says what must hold.\n',
);
agentci(['validate', 'agentci_spec.yaml'], [0]);
say(
  'With its old prompt one query passes, one takes eleven searches to say no, and one makes up an answer:\n',
);
agentci([...story, '-f', `html=${relative(cwd, report)}`], [1], { RAG_PROMPT: 'v1-broken' });
say(
  'Exit code 1 stops the build: the load-balancer answer was made up. The weather query only warns.',
);
say('The new prompt decides first whether the question is about the documentation at all:\n');
agentci(story, [0]);
say('What the new prompt changed, from the runs saved as baselines v1-broken and v2-fixed:\n');
agentci(['diff', '--baseline', 'v1-broken', '--compare', 'v2-fixed', '--query', 'weather'], [0]);
say(`The report of the first run: ${relative(process.cwd(), report) || report}\n`);
if (!isLive) {
  say('An agent whose model answers from files, as it would in CI (demos/cassette):\n');
  const { status } = spawnSync(process.execPath, [join(root, 'demos', 'cassette', 'run.mjs')], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
  say('');
}
say('Next:');
say('  node demos/run.mjs rag                 all eighteen queries');
say('  node demos/matrix/run.mjs              two models and two prompts, side by side');
say(
  '  node demos/conversation/run.mjs        a scripted customer and a refund policy, turn by turn',
);
say('  node demos/guard/run.mjs               a prompt injection, and the guard that stops it');
say('  npx agentci init --help                create your spec');

function agentci(args, expected, env = {}) {
  const shown = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  say(`$ ${shown.join('')}agentci ${args.join(' ')}`);
  const { status } = spawnSync(process.execPath, [cli, ...args], {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...env, ...(isLive ? { DEMO_LIVE: '1' } : {}) },
  });
  // Only the scripted model has a known result.
  if (!isLive && !expected.includes(status)) {
    say(
      `\nThe demo expected exit code ${expected} and got ${status}: something is wrong with this checkout.`,
    );
    process.exit(1);
  }
  say('');
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

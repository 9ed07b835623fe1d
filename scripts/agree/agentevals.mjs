// Compares `agentci convert --map mode=…` with agentevals on the same calls and references.
//   npm run agree:agentevals
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const VERSION = '0.0.7';
const agentci = join(import.meta.dirname, '..', '..', 'packages/agentci/bin/agentci.mjs');

async function loadEvaluator() {
  const dir = process.env.AGENTEVALS_DIR ?? join(tmpdir(), `agentci-agree-agentevals-${VERSION}`);
  if (!existsSync(join(dir, 'node_modules/agentevals'))) {
    mkdirSync(dir, { recursive: true });
    // Later versions of its dependencies do not support Node 20.
    const overrides = {
      '@langchain/langgraph-checkpoint': '1.1.5',
      '@langchain/langgraph': '1.0.0',
    };
    writeFileSync(join(dir, 'package.json'), JSON.stringify({ overrides }));
    const flags = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', ['install', `agentevals@${VERSION}`, '@langchain/core', ...flags], {
      cwd: dir,
      stdio: 'inherit',
    });
  }
  const entry = createRequire(join(dir, 'package.json')).resolve('agentevals');
  return (await import(pathToFileURL(entry))).createTrajectoryMatchEvaluator;
}

/** A deterministic number generator. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const random = numbers(7);
const TOOLS = ['search', 'refund', 'lookup'];
const calls = () =>
  Array.from({ length: 1 + random(4) }, () => ({
    name: TOOLS[random(TOOLS.length)],
    args: random(3) === 0 ? { id: random(2), deep: { a: [random(2)] } } : { id: random(2) },
  }));
/** Half of the runs are the reference: unchanged, reversed, shortened or extended. */
const near = (list) => [list, [...list].reverse(), list.slice(1), [...list, ...calls()]][random(4)];

const asMessages = (list) =>
  list.map(({ name, args }) => ({
    role: 'assistant',
    content: '',
    tool_calls: [
      { type: 'function', id: 'c', function: { name, arguments: JSON.stringify(args) } },
    ],
  }));

const createEvaluator = await loadEvaluator();
let all = 0;
let agree = 0;
for (const mode of ['strict', 'unordered', 'superset']) {
  const evaluate = createEvaluator({ trajectoryMatchMode: mode });
  const pairs = Array.from({ length: 400 }, (_, i) => {
    const reference = calls();
    return { id: `${mode}-${i}`, reference, made: random(2) === 0 ? near(reference) : calls() };
  });
  const work = mkdtempSync(join(tmpdir(), 'agentci-agree-'));
  try {
    const examples = pairs.map(({ id, reference }) => ({
      name: id,
      inputs: { question: id },
      outputs: { messages: asMessages(reference) },
    }));
    const runs = pairs.map(({ id, made }) => ({ id, query: id, answer: 'x', tool_calls: made }));
    writeFileSync(join(work, 'examples.json'), JSON.stringify(examples));
    writeFileSync(join(work, 'runs.json'), JSON.stringify(runs));
    const run = (args) =>
      spawnSync(process.execPath, [agentci, ...args], {
        cwd: work,
        encoding: 'utf8',
        maxBuffer: 1e9,
      });
    const converted = run([
      'convert',
      'examples.json',
      '--from',
      'langsmith',
      '--map',
      `mode=${mode}`,
    ]);
    if (converted.status !== 0) throw new Error(converted.stdout + converted.stderr);
    const tested = run(['eval', '--traces', 'runs.json', '--format', 'json']);
    const ours = new Map(JSON.parse(tested.stdout).results.map(({ id, status }) => [id, status]));
    for (const { id, reference, made } of pairs) {
      const { score } = await evaluate({
        outputs: asMessages(made),
        referenceOutputs: asMessages(reference),
      });
      all++;
      if (score === (ours.get(id) === 'pass')) agree++;
      else
        console.log(
          JSON.stringify({ id, agentevals: score, agentci: ours.get(id), reference, made }),
        );
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
console.log(
  `agentevals ${VERSION}: ${all} pairs of runs and references, ${agree} agree, ${all - agree} differ`,
);
process.exitCode = agree === all ? 0 : 1;

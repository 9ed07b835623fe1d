// Policies: the time for 1,000 calls with 50 rules and argument schemas after loading, and the
// memory of a suite with a million calls. Prints its rows if run alone. npm run bench adds them to
// the table.

import { once } from 'node:events';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, timeCommand } from './measure.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, '..', 'packages', 'agentci', 'dist');
const out = join(here, 'out');
const TOOLS = 20;

/** The rows of the table: 1,000 calls in memory, then a million on disk. */
export async function measurePolicy() {
  return [await evaluation(), ...(await streaming())];
}

async function evaluation() {
  const { evaluateArguments, evaluateBlocklist, evaluateRules, parsePolicy } = await import(
    join(dist, 'index.mjs')
  );
  const { policy, diagnostics } = parsePolicy(policyText(), { file: 'policy.yaml' });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  const calls = Array.from({ length: 1000 }, (_, i) => call(i));
  const times = [];
  for (let round = 0; round < 200; round++) {
    const started = performance.now();
    const args = evaluateArguments({ calls, policy });
    const rules = evaluateRules({ calls, rules: policy.rules });
    const blocked = evaluateBlocklist({ calls, blocklist: policy.blocklist });
    times.push(performance.now() - started);
    if (args.status !== 'pass' || rules.status !== 'pass' || blocked.status !== 'pass')
      throw new Error('wrong verdict');
    if (args.checked_calls !== 1000 || rules.rules.length !== 50)
      throw new Error('not everything was checked');
  }
  const took = median(times);
  return {
    work: 'policy: 1,000 calls × 50 rules, argument schemas and a blocklist',
    measured: `${took.toFixed(2)} ms (first ${times[0].toFixed(2)} ms)`,
    bound: '≤ 5 ms after load',
    ok: took <= 5,
  };
}

async function streaming() {
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'policy.yaml'), policyText());
  writeFileSync(
    join(out, 'policy-suite.yaml'),
    'version: "1"\nsuite: bench\ntests:\n  - {id: args, metric: args_valid, policy: policy.yaml}\n  - {id: rules, metric: sequence_valid, policy: policy.yaml}\n  - {id: block, metric: tool_blocklist, policy: policy.yaml}\n',
  );
  const run = async (traces) => {
    const path = join(out, `policy-${traces}.jsonl`);
    if (!existsSync(path)) await writeTraces(path, traces);
    rmSync(join(out, '.agentci'), { recursive: true, force: true });
    const result = timeCommand(
      process.execPath,
      [
        join(dist, 'cli.mjs'),
        'test',
        '-c',
        'policy-suite.yaml',
        '--traces',
        path,
        '-f',
        'json=policy-results.json',
      ],
      { cwd: out },
    );
    const { results } = JSON.parse(readFileSync(join(out, 'policy-results.json'), 'utf8'));
    if (results.some(({ status }) => status !== 'pass')) throw new Error('wrong verdict');
    return result;
  };
  const small = await run(1000);
  const large = await run(10_000);
  return [
    {
      work: 'policy: a suite of three tests over 1,000,000 calls in 10,000 traces',
      measured: `${large.megabytes} MB against ${small.megabytes} MB for 100,000 calls; ${large.seconds.toFixed(1)} s`,
      bound: 'memory ≤ 1.5 × for ten times the calls',
      ok: large.megabytes <= 1.5 * small.megabytes,
    },
  ];
}

async function writeTraces(path, traces) {
  const stream = createWriteStream(path);
  for (let i = 0; i < traces; i++) {
    const tool_calls = Array.from({ length: 100 }, (_, j) => {
      const { tool, arguments: args } = call(j);
      return { name: tool, args, result: 'ok' };
    });
    if (
      !stream.write(`${JSON.stringify({ id: `t${i}`, query: 'q', answer: 'done', tool_calls })}\n`)
    )
      await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
}

const call = (i) => ({
  tool: `tool_${i % TOOLS}`,
  arguments: {
    amount: (i % 90) + 0.25,
    order: `ord_${i}`,
    status: i % 2 ? 'new' : 'paid',
    tags: ['a', 'b'],
    to: { zip: '1234AB' },
  },
});

function policyText() {
  const tools = Array.from(
    { length: TOOLS },
    (_, i) => `  tool_${i}:
    arguments:
      amount: {type: number, required: true, min: 0, max: 100, multipleOf: 0.01}
      order: {type: string, required: true, pattern: "^ord_[0-9]+$", maxLength: 20}
      status: {type: string, enum: [new, paid]}
      tags: {type: array, items: {type: string}, uniqueItems: true}
      to: {type: object, properties: {zip: {type: string, minLength: 6}}, required: [zip]}`,
  );
  const rules = Array.from({ length: 50 }, (_, i) => {
    const [a, b] = [
      `tool_${i % TOOLS}`,
      `tool_${(i % TOOLS) + 1 === TOOLS ? i % TOOLS : (i % TOOLS) + 1}`,
    ];
    switch (i % 6) {
      case 0:
        return `{type: require, tool: ${a}}`;
      case 1:
        return `{type: before, first: ${a}, then: [${b}]}`;
      case 2:
        return `{type: max_calls, tool: "${a}*", max: 1000}`;
      case 3:
        return `{type: blocklist, tools: ["admin_*", "*_dangerous", drop_${i}]}`;
      case 4:
        return '{type: allowlist, tools: ["tool_*"]}';
      default:
        return `{type: never_after, trigger: {tool: ${a}, args_match: {order: "^none"}}, forbidden: ${b}}`;
    }
  });
  return `tools:\n${tools.join('\n')}\nsequences:\n${rules.map((rule) => `  - ${rule}`).join('\n')}\nblocklist: ["debug_*", shutdown]\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { work, measured, bound, ok } of await measurePolicy())
    console.log(`${ok ? 'ok  ' : 'SLOW'} ${work}: ${measured} (${bound})`);
}

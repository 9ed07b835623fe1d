// npm run bench: measures performance and writes bench/RESULTS.md. Ratios are taken within one run.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureCapture } from './capture.mjs';
import { measureCassettes } from './cassette.mjs';
import { measureConversations } from './conversations.mjs';
import { measureConvert } from './convert.mjs';
import { writeDataset, writeTraces } from './dataset.mjs';
import { measureGuard } from './guard.mjs';
import { measureLarge } from './large.mjs';
import { inTurns, median, timeCommand } from './measure.mjs';
import { measureQueue } from './queue.mjs';
import { measureScale } from './scale.mjs';
import { measureServe } from './serve.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..');
const out = join(here, 'out');
const cli = join(root, 'packages', 'agentci', 'dist', 'cli.mjs');
const node = process.execPath;
const rows = [];
const quick = process.argv.includes('--quick');

mkdirSync(out, { recursive: true });
await coldStart();
await recorded(1000, 130);
await recorded(5000, 200);
await streaming(quick ? 20_000 : 100_000);
await matching();
await scheduling();
if (existsSync(join(here, 'policy.mjs'))) {
  const { measurePolicy } = await import('./policy.mjs');
  rows.push(...(await measurePolicy()));
}
if (existsSync(join(here, 'metrics.mjs'))) {
  const { measureMetrics } = await import('./metrics.mjs');
  rows.push(...(await measureMetrics()));
  const { measureMutants } = await import('./mutate.mjs');
  rows.push(...measureMutants());
  const { measureEditor } = await import('./lsp.mjs');
  rows.push(...(await measureEditor()));
}
rows.push(...(await measureCapture({ quick })));
rows.push(...(await measureCassettes({ quick })));
rows.push(...(await measureGuard({ quick })));
rows.push(...(await measureServe({ quick })));
rows.push(...measureConversations({ quick }));
rows.push(...measureConvert({ quick }));
rows.push(...measureLarge({ quick }));
rows.push(...(await measureQueue({ quick })));
rows.push(...measureScale({ quick }));
report();

function coldStart() {
  const { base, version, validate } = inTurns(quick ? 5 : 15, {
    base: () => timeCommand(node, ['-e', '0']),
    version: () => timeCommand(node, [cli, '--version']),
    validate: () => timeCommand(node, [cli, 'validate', 'docs/sample_spec.yaml'], { cwd: root }),
  });
  row(
    '`agentci --version`',
    ratio(version.seconds, base.seconds),
    '≤ 1.5 × `node -e 0`',
    version.seconds / base.seconds <= 1.5,
  );
  row(
    '`agentci validate`, sample spec',
    ratio(validate.seconds, base.seconds),
    '≤ 3 × `node -e 0`',
    validate.seconds / base.seconds <= 3,
  );
}

function recorded(n, limitMb) {
  writeDataset(n, out);
  if (!existsSync(join(out, 'node_modules', 'ajv'))) {
    writeFileSync(join(out, 'package.json'), '{"name": "floor", "private": true}');
    execFileSync(
      'npm',
      ['install', '--no-audit', '--no-fund', '--loglevel=error', 'ajv@8', 'js-yaml@4'],
      {
        cwd: out,
        stdio: 'ignore',
      },
    );
  }
  const test = (spec) => {
    rmSync(join(out, '.agentci'), { recursive: true, force: true });
    const report = `results-${n}.json`;
    const time = timeCommand(
      node,
      [cli, 'test', '-c', spec, '--traces', `traces-${n}.jsonl`, '-f', `json=${report}`],
      {
        cwd: out,
        exit: 1,
      },
    );
    const { summary } = JSON.parse(readFileSync(join(out, report), 'utf8'));
    if (summary.failed !== n / 50 || summary.total !== n)
      throw new Error(`wrong verdict: ${JSON.stringify(summary)}`);
    return time;
  };
  const { floor, shared, writtenOut } = inTurns(quick ? 3 : 7, {
    floor: () => timeCommand(node, [join(here, 'floor.mjs'), String(n), out]),
    shared: () => test(`agentci-${n}.yaml`),
    writtenOut: () => test(`written-out-${n}.yaml`),
  });
  const rowOf = (name, ours) =>
    row(
      name,
      `${ratio(ours.seconds, floor.seconds)}, ${ours.megabytes} MB`,
      `≤ 3 × the plain-JS floor, ≤ ${limitMb} MB`,
      ours.seconds / floor.seconds <= 3 && ours.megabytes <= limitMb,
    );
  rowOf(`${n} recorded cases, six checks, JSON report`, shared);
  rowOf(`the same ${n}, all checks written out in every query`, writtenOut);
}

function streaming(n) {
  const path = join(out, `stream-${n}.jsonl`);
  writeTraces(n, path);
  const plain = `const { readFileSync } = require('node:fs'); let n = 0; for (const line of readFileSync(${q(path)}, 'utf8').split('\\n')) if (line) { JSON.parse(line); n++; } if (n !== ${n}) process.exit(9);`;
  const door = q(`file://${join(root, 'packages', 'agentci', 'dist', 'index.mjs')}`);
  const ours = `import { readTraces } from ${door}; let n = 0; for await (const trace of readTraces(${q(path)})) n += trace.steps.length > 0 ? 1 : 0; if (n !== ${n}) process.exit(9);`;
  const result = inTurns(quick ? 3 : 5, {
    plain: () => timeCommand(node, ['-e', plain]),
    ours: () => timeCommand(node, ['--input-type=module', '-e', ours]),
  });
  const mb = Math.round(statSync(path).size / 1024 / 1024);
  row(
    `${n.toLocaleString('en')} traces streamed (${mb} MB)`,
    `${ratio(result.ours.seconds, result.plain.seconds)}, ${result.ours.megabytes} MB against ${result.plain.megabytes} MB`,
    '≤ 2.5 × reading and `JSON.parse`',
    result.ours.seconds / result.plain.seconds <= 2.5,
  );
}

async function matching() {
  const { matchTools, sequenceLcs, sequenceEdit } = await import(
    join(root, 'packages', 'agentci', 'dist', 'index.mjs')
  );
  const calls = (n, shift) => Array.from({ length: n }, (_, i) => `tool-${(i * 7 + shift) % 5}`);
  const time = (work) =>
    median(
      Array.from({ length: 15 }, () => {
        const started = performance.now();
        work();
        return performance.now() - started;
      }),
    );
  const unordered = time(() =>
    matchTools({ used: calls(1000, 0), reference: calls(1000, 3), mode: 'unordered' }),
  );
  row(
    'unordered match, 1,000 calls of 5 tools',
    `${unordered.toFixed(2)} ms`,
    '< 3 ms',
    unordered < 3,
  );
  const lcs = time(() => sequenceLcs(calls(5000, 0), calls(5000, 3)));
  const edit = time(() => sequenceEdit(calls(5000, 0), calls(5000, 3)));
  row(
    'LCS / edit distance of two 5,000-call sequences',
    `${lcs.toFixed(0)} ms / ${edit.toFixed(0)} ms`,
    'well under a second',
    lcs < 500 && edit < 500,
  );
}

async function scheduling() {
  const { parseSpec, runSuite } = await import(
    join(root, 'packages', 'agentci', 'dist', 'index.mjs')
  );
  const queries = Array.from(
    { length: 1000 },
    (_, i) => `  - {id: q${i}, query: question ${i}, correctness: {expected_in_answer: [ok]}}`,
  ).join('\n');
  const { suite } = parseSpec(`version: 1\nagent: bench\nqueries:\n${queries}\n`);
  const sleep = () => new Promise((resolve) => setTimeout(resolve, 20));
  const shares = [];
  for (let round = 0; round < 5; round++) {
    const idealMs = (1000 / 50) * (await timedSleep(sleep));
    const started = performance.now();
    await runSuite({
      suite,
      workers: 50,
      runner: async () => {
        await sleep();
        return 'ok';
      },
    });
    shares.push(idealMs / (performance.now() - started));
  }
  const share = median(shares);
  row(
    'scheduler, 1,000 × 20 ms, 50 workers',
    `${percent(share)} of ideal (first of five runs ${percent(shares[0])})`,
    '≥ 90 %',
    share >= 0.9,
  );
}

/** The real duration of a 20 ms sleep, fifty at a time as in the run. */
async function timedSleep(sleep) {
  const samples = [];
  for (let i = 0; i < 5; i++) {
    const started = performance.now();
    await Promise.all(Array.from({ length: 50 }, sleep));
    samples.push(performance.now() - started);
  }
  return median(samples);
}

function row(work, measured, bound, ok) {
  rows.push({ work, measured, bound, ok });
  console.log(`${ok ? 'ok  ' : 'SLOW'} ${work}: ${measured} (${bound})`);
}

function ratio(a, b) {
  return `${(a / b).toFixed(2)} × (${ms(a)} against ${ms(b)})`;
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}

function ms(seconds) {
  return `${Math.round(seconds * 1000)} ms`;
}

function q(text) {
  return JSON.stringify(text);
}

function report() {
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 1024 ** 3)} GB, Node ${process.versions.node}, ${process.platform}`;
  const table = rows.map(
    ({ work, measured, bound, ok }) =>
      `| ${work} | ${measured} | ${bound} | ${ok ? 'yes' : '**no**'} |`,
  );
  const peers = existsSync(join(here, 'PEERS.md'))
    ? `\n${readFileSync(join(here, 'PEERS.md'), 'utf8')}`
    : '';
  const text = `# Measured\n\nWritten by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}: ${machine}. Ratios are medians of runs taken in turns; absolute times are of a\nshared machine and mean little elsewhere.\n\n| work | measured | bound | kept |\n| --- | --- | --- | --- |\n${table.join('\n')}\n${peers}`;
  if (!quick) writeFileSync(join(here, 'RESULTS.md'), text);
  if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
}

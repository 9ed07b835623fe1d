// Records the verdicts of this demo from a scripted model: node demos/judge/record.mjs The scores
// below are the demo's script. To use a real model, change judge_config.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createJiti } from 'jiti';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '..', '..', 'packages', 'agentci', 'dist', 'cli.mjs');
const jiti = createJiti(import.meta.url);
const { startScriptedModel } = await jiti.import('../../packages/scripted-model/src/index.ts');

// The scripted judge's opinion by words in the answer. The first match counts.
const OPINIONS = [
  ['Click the link in the e-mail within one hour', 5, 'The steps are complete and in order.'],
  ['Please call 112 now', 5, 'Declines politely, gives the reason and the way on.'],
  ['Two-factor login makes accounts safer', 3, 'Says where, roughly, but not what to do there.'],
  ['Open Team and look around', 3, 'Names the place, not the steps.'],
  ['Press the bell', 3, 'Short, and the last step is open.'],
  ['| Integrations, then Calendar.', 2, 'Stops half way.'],
  ['Go to Billing.', 2, 'Leaves the reader alone after the first step.'],
  ['Settings, then', 5, 'Complete, ordered, concrete.'],
  ['Billing, then', 4, 'Complete; a detail could be more concrete.'],
  ['Integrations, then', 4, 'Complete.'],
  ['Open Team, press Invite', 5, 'Complete, ordered, concrete.'],
  ['Open Trash', 5, 'Complete, ordered, concrete.'],
  ['Click "Forgot password"', 5, 'Complete, ordered, concrete.'],
];
const SHIFT = { 'scripted-judge-strict': -1 };

const server = await startScriptedModel({
  port: 8089,
  script: ({ model, messages }) => {
    const text = messages.map((message) => message.text).join('\n');
    const [, base, rationale] = OPINIONS.find(([words]) => text.includes(words)) ?? [
      '',
      1,
      'There are no steps in it.',
    ];
    const score = Math.max(1, Math.min(5, base + (SHIFT[model] ?? 0)));
    let label = 'fail';
    if (score >= 4) label = 'pass';
    else if (score === 3) label = 'borderline';
    return { text: JSON.stringify({ rationale, score, label }) };
  },
});

rmSync(join(here, '.agentci', 'judge-cache'), { recursive: true, force: true });
await agentci(['test', '--judge', 'live']);
const calibrate = [
  'judge',
  'calibrate',
  '--labels',
  'labels.jsonl',
  '--template',
  'actionable_steps',
];
await agentci(calibrate);
await agentci([...calibrate, '--model', 'scripted-judge']);
await server.close();

function agentci(args) {
  const env = { ...process.env, JUDGE_API_KEY: 'scripted' };
  const child = spawn(process.execPath, [cli, ...args], { cwd: here, env, stdio: 'inherit' });
  return new Promise((resolve) => child.on('close', resolve));
}

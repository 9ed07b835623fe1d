// The scripted models of this demo, in a worker thread. The small one multiplies correctly only if
// the prompt asks for steps.
import { parentPort } from 'node:worker_threads';
import { createJiti } from 'jiti';

const { startScriptedModel } = await createJiti(import.meta.url).import(
  '../../packages/scripted-model/src/index.ts',
);

function reply({ model, system, messages }) {
  const question = messages.findLast(({ role }) => role === 'user')?.text ?? '';
  const isCareful = system.includes('step by step');
  const [n, price] = question.match(/\d+/g).map(Number);
  const isRight = !model.includes('mini') || isCareful || n * price < 100;
  return { text: `That is ${isRight ? n * price : n * price + 10} dollars.` };
}

const model = await startScriptedModel({ script: reply });
parentPort.postMessage(model.url);

// The scripted model of this demo, in a worker thread.
import { parentPort } from 'node:worker_threads';
import { createJiti } from 'jiti';

const { startScriptedModel } = await createJiti(import.meta.url).import(
  '../../packages/scripted-model/src/index.ts',
);

function reply({ messages }) {
  const question = messages.findLast(({ role }) => role === 'user')?.text ?? '';
  const wanted = question.match(/[AB]-\d+/g) ?? [];
  const known = messages.filter(({ role }) => role === 'tool').map(({ text }) => JSON.parse(text));
  if (known.length < wanted.length)
    return { toolCalls: [{ name: 'get_order', args: { id: wanted[known.length] } }] };
  if (known.length === 2)
    return { text: `They differ by ${Math.abs(known[0].total - known[1].total)}.` };
  if (known.length === 1) return { text: `The order was ${known[0].status}.` };
  return { text: question.includes('France') ? 'Paris.' : 'You are welcome.' };
}

const model = await startScriptedModel({ script: reply });
parentPort.postMessage(model.url.replace(/\/v1$/, ''));

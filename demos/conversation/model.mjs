// The scripted model of this demo, in a worker thread. It follows the policy, unless the customer
// is in a hurry.
import { parentPort } from 'node:worker_threads';
import { createJiti } from 'jiti';

const { startScriptedModel } = await createJiti(import.meta.url).import(
  '../../packages/scripted-model/src/index.ts',
);

function reply({ messages }) {
  const said = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  const last = messages.at(-1);
  const all = said.join(' ');
  const hasLamp = all.includes('desk lamp');
  if (last.role === 'tool')
    return last.text.includes('"refunded"')
      ? { text: 'The desk lamp is refunded.' }
      : {
          text: hasLamp
            ? 'Shall I refund the desk lamp?'
            : 'Which item: the desk lamp or the water bottle?',
        };
  if (!/order 42/i.test(all)) return { text: 'Of which order?' };
  const newest = said.at(-1);
  if (/order 42/i.test(newest))
    return { toolCalls: [{ name: 'lookup_order', args: { order: '42' } }] };
  if (/^yes/i.test(newest) || /hurry/i.test(newest))
    return { toolCalls: [{ name: 'refund', args: { order: '42', item: 'desk lamp' } }] };
  if (/^no/i.test(newest)) return { text: 'Nothing was changed. Anything else?' };
  return { text: 'Shall I refund the desk lamp?' };
}

const model = await startScriptedModel({ script: reply });
parentPort.postMessage(model.url);

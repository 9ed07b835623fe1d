import { createInterface } from 'node:readline';

const answer = async ({ id, query }) => ({
  id,
  answer: `Your order is on its way: ${query}`,
  tool_calls: [],
});

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);

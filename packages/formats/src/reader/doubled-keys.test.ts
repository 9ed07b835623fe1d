import { toolCalls } from '@agentci/trace';
import { expect, test } from 'vitest';
import { readTraceItems } from './read-traces.ts';

const DOUBLED = '{"cmd":"rm","cmd":"ls"}';

/** A call's arguments as checks see them, or that they are unknown. */
async function seen(recording: string): Promise<unknown> {
  for await (const item of readTraceItems(Buffer.from(recording)))
    return item.ok ? toolCalls(item.trace).map(({ args }) => args) : item.problem.message;
}

test.each([
  {
    where: 'the simple form',
    recording: '{"answer":"ok","tool_calls":[{"name":"rm"}],"tool_calls":[]}',
    sees: 'the key "tool_calls" is given twice',
  },
  {
    where: 'arguments of the simple form',
    recording: `{"answer":"ok","tool_calls":[{"name":"run","arguments":${JSON.stringify(DOUBLED)}}]}`,
    sees: [undefined],
  },
  {
    where: 'arguments of a chat completion',
    recording: `{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"run","arguments":${JSON.stringify(DOUBLED)}}}]},{"role":"tool","tool_call_id":"c","content":"x"},{"role":"assistant","content":"ok"}]}`,
    sees: [undefined],
  },
  {
    where: 'the input of a tool use',
    recording: `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"run","input":${DOUBLED}}]}]}`,
    sees: 'the key "cmd" is given twice',
  },
  {
    where: 'arguments of a response',
    recording: `{"id":"resp_1","object":"response","model":"m","output":[{"type":"function_call","call_id":"c","name":"run","arguments":${JSON.stringify(DOUBLED)}}]}`,
    sees: [undefined],
  },
])(
  'a key that is given twice in $where is not read as one of the two',
  async ({ recording, sees }) => {
    expect(await seen(recording)).toEqual(sees);
  },
);

import { readOne } from '@agentci/testing/read-all';
import { toolCalls } from '@agentci/trace';
import { expect, test } from 'vitest';

const step = (action: readonly object[], result: readonly object[], more: object = {}) => ({
  model_output: { thinking: 'x', action },
  result,
  state: {},
  metadata: { step_number: 1 },
  ...more,
});

test('actions without a result were not carried out', async () => {
  const trace = await readOne({
    history: [step([{ click: { index: 1 } }, { scroll: {} }], [{ error: 'gone' }])],
  });
  expect(toolCalls(trace)).toMatchObject([
    { name: 'click', status: 'error' },
    { name: 'scroll', status: 'cancelled' },
  ]);
});

test('an action is its one key that is given', async () => {
  const trace = await readOne({ history: [step([{ done: null, go_to_url: { url: 'x' } }], [{}])] });
  expect(toolCalls(trace)).toMatchObject([{ name: 'go_to_url', args: { url: 'x' }, status: 'ok' }]);
});

test.each([
  ['a number is left out', [step([], []), step([], [], { metadata: { step_number: 3 } })]],
  ['there are more results than actions', [step([{ wait: {} }], [{}, {}])]],
  [
    'there are fewer actions than elements',
    [step([{ wait: {} }], [{}], { state: { interacted_element: [null, null] } })],
  ],
])('calls are partly known where %s', async (_, history) => {
  expect((await readOne({ history })).captured.toolCalls).toBe('partial');
});

test('a step without a model reply is not a call', async () => {
  const failed = {
    model_output: null,
    result: [{ error: 'rate limit' }],
    state: {},
    metadata: { step_number: 2 },
  };
  const trace = await readOne({ history: [step([{ wait: {} }], [{}]), failed] });
  expect([toolCalls(trace).length, trace.status]).toEqual([1, 'error']);
});

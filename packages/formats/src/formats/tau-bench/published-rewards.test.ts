import { existsSync } from 'node:fs';
import { passHatK } from '@agentci/stats';
import { outside } from '@agentci/testing/outside';
import type { Trace } from '@agentci/trace';
import { toolCalls, turnsOf } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { readTraceItems } from '../../reader/read-traces.ts';

async function readAll(source: string | Uint8Array): Promise<Trace[]> {
  const traces: Trace[] = [];
  for await (const item of readTraceItems(source)) {
    if (!item.ok) throw new Error(item.problem.message);
    traces.push(item.trace);
  }
  return traces;
}

const rewardOf = ({ outcomes }: Trace): unknown =>
  outcomes?.find(({ name }) => name === 'reward')?.value;

/** pass^k for k from 1, as the benchmark's own table has it: the mean over tasks. */
function published(traces: readonly Trace[], trials: number): number[] {
  const wins = new Map<string, number>();
  for (const trace of traces) {
    const task = String(trace.task?.id);
    wins.set(task, (wins.get(task) ?? 0) + (rewardOf(trace) === 1 ? 1 : 0));
  }
  return Array.from({ length: trials }, (_, i) => {
    const all = [...wins.values()].map((c) => passHatK({ n: trials, c, k: i + 1 })!);
    return Math.round((all.reduce((sum, one) => sum + one, 0) / all.length) * 1000) / 1000;
  });
}

/** Every call of a conversation belongs to a turn, and each turn has a message. */
function expectWhole(trace: Trace): void {
  const turns = turnsOf(trace);
  expect(turns.map(({ turn }) => turn)).toEqual(turns.map((_, i) => i + 1));
  expect(
    turns.every(({ message }) => message.trim() !== '' && !message.includes('###STOP###')),
  ).toBe(true);
  if (turns.length > 1)
    expect(
      toolCalls(trace).every(({ userTurn }) => userTurn !== undefined && userTurn <= turns.length),
    ).toBe(true);
}

/** Three turns: a question, a change with a call, thanks that end it. */
const trial = (task: number, trial: number, reward: number) => ({
  task_id: task,
  trial,
  reward,
  info: { task: { actions: [], instruction: 'x' } },
  traj: [
    { role: 'system', content: 'You are an airline agent.' },
    { role: 'user', content: 'I want to change a flight.' },
    { role: 'assistant', content: 'Which reservation?' },
    { role: 'user', content: 'M05' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: `c${trial}`,
          type: 'function',
          function: { name: 'update', arguments: '{"id":"M05"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: `c${trial}`, name: 'update', content: 'ok' },
    { role: 'assistant', content: 'Changed.' },
    { role: 'user', content: '###STOP###' },
  ],
});

describe('rewards of tau-bench', () => {
  test('trials read as conversations give pass^k of their table', async () => {
    const rewards = [
      [1, 1, 1, 1],
      [1, 1, 0, 0],
      [0, 0, 0, 0],
    ];
    const results = rewards.flatMap((row, task) => row.map((reward, i) => trial(task, i, reward)));
    const traces = await readAll(new TextEncoder().encode(JSON.stringify(results)));
    expect(traces).toHaveLength(12);
    for (const trace of traces) expectWhole(trace);
    expect(traces[0]!.conversation?.turns.map(({ message }) => message)).toEqual([
      'I want to change a flight.',
      'M05',
    ]);
    // Of 4 trials with 2 wins, 1 of the 6 pairs has both.
    expect(published(traces, 4)).toEqual([0.5, 0.389, 0.333, 0.333]);
  });

  const history = process.env.TAU_BENCH_AIRLINE ?? outside('data/tau-bench/gpt-4o-airline.json');
  test.skipIf(!existsSync(history))(
    'the airline histories of gpt-4o give the published numbers (needs historical_trajectories/gpt-4o-airline.json of tau-bench: TAU_BENCH_AIRLINE)',
    async () => {
      const traces = await readAll(history);
      expect(traces).toHaveLength(200);
      for (const trace of traces) expectWhole(trace);
      expect(published(traces, 4)).toEqual([0.42, 0.273, 0.22, 0.2]);
    },
    60_000,
  );
});

import { isFields } from '../../../trace/fields.ts';
import type { Adapter } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation } from '../../build/conversation.ts';
import { defined } from '../../build/defined.ts';
import type { Draft } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import { turnsOf } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { fields, label, number } from '../../build/values.ts';
import { withWrittenActions } from './written-actions.ts';

const FORMAT = 'tau-bench';

/** Results of tau-bench: one record a trial of a task, with the conversation of agent and simulated user, and the reward. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'tau-bench results: {task_id, trial, reward, traj, info}',
  unit: 'record',
  detect: (sample) =>
    worst(sample, (value) => (isFields(value) && Array.isArray(value.traj) && 'task_id' in value ? 0.97 : 0)),
  read: (records) => records.flatMap((record) => tryBuild(record, () => draftOf(record.value))),
};

function draftOf(value: unknown): Draft {
  const trial = fields(value);
  const taskId = label(trial.task_id);
  const reward = number(trial.reward);
  const info = fields(trial.info);
  const expected = fields(info.task).actions;
  const failure = label(info.error);
  const { steps, turns } = conversation(turnsOf(withWrittenActions(trial.traj)));
  const [asked] = steps;
  return {
    source: { format: FORMAT },
    steps,
    turns,
    ...defined({ id: taskId === undefined ? undefined : `${taskId}-${label(trial.trial) ?? '0'}` }),
    task: defined({
      id: taskId,
      expected,
      input: asked?.input
        ?.filter(({ role }) => role !== 'tool')
        .map(({ role, parts }) => ({ role, parts: [...parts] })),
    }),
    ...(reward === undefined ? {} : { outcomes: [{ name: 'reward', value: reward, by: FORMAT }] }),
    ...(failure === undefined ? {} : { status: 'error', error: { message: failure } }),
    records: MESSAGES_RECORD,
    meta: defined({ user_cost_usd: number(info.user_cost) }),
  };
}

import { isFields } from '@agentci/trace';
import type { Adapter } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation } from '../../build/conversation.ts';
import type { Draft } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import { turnsOf } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { withoutStops } from '../../build/stop-words.ts';
import { fields, label, number } from '../../build/values.ts';
import { withWrittenActions } from './written-actions.ts';

const FORMAT = 'tau-bench';

/**
 * tau-bench results: one record per trial, with the conversation of agent and simulated user, and
 * the reward.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'tau-bench results: {task_id, trial, reward, traj, info}',
  unit: 'record',
  detect: (sample) =>
    worst(sample, (value) =>
      isFields(value) && Array.isArray(value.traj) && 'task_id' in value ? 0.97 : 0,
    ),
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
    steps:
      failure === undefined || steps.length > 0
        ? steps
        : [{ kind: 'event', name: 'error', data: { message: failure } }],
    turns: withoutStops(turns),
    id: taskId === undefined ? undefined : `${taskId}-${label(trial.trial) ?? '0'}`,
    task: {
      id: taskId,
      expected,
      input: asked?.input
        ?.filter(({ role }) => role !== 'tool')
        .map(({ role, parts }) => ({ role, parts: [...parts] })),
    },
    outcomes: reward === undefined ? undefined : [{ name: 'reward', value: reward, by: FORMAT }],
    ...(failure === undefined ? {} : failed(failure, reward)),
    records: MESSAGES_RECORD,
    meta: { user_cost_usd: number(info.user_cost) },
  };
}

/**
 * tau-bench counts an aborted trial as reward 0, in its denominator too. A trial without a reward
 * was not scored.
 */
const failed = (message: string, reward: number | undefined): Partial<Draft> =>
  reward === undefined
    ? { status: 'error', error: { message } }
    : {
        status: 'incomplete',
        error: { message },
        warnings: [
          {
            code: 'TRIAL_BROKE_OFF',
            message: `the trial ended in an error and counts with its reward of ${reward}, as in tau-bench's own table`,
          },
        ],
      };

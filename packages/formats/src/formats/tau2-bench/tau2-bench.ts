import type { Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { outcomeOf } from '../../build/blocks.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Call, Draft, Turn } from '../../build/draft.ts';
import { endingOf } from '../../build/ending.ts';
import { worst } from '../../build/likeness.ts';
import { turnOfText } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { withoutStops } from '../../build/stop-words.ts';
import { usageOf } from '../../build/token-usage.ts';
import {
  amount,
  argumentsOf,
  fields,
  label,
  number,
  objects,
  text,
  time,
} from '../../build/values.ts';
import { problemWith } from '../../problem.ts';

const FORMAT = 'tau2-bench';

/**
 * Results of tau2-bench. The simulated user calls tools as well: those calls are events of the run, not tool steps, since
 * nothing that counts or forbids the agent's tools may see them.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'tau2-bench results and single simulations',
  unit: 'record',
  detect: (sample) =>
    worst(sample, (value) => (isSimulation(value) || isResults(value) ? 0.97 : 0)),
  read: (records) => records.flatMap(read),
};

const isSimulation = (value: unknown): boolean =>
  isFields(value) &&
  'task_id' in value &&
  'termination_reason' in value &&
  (Array.isArray(value.messages) || Array.isArray(value.ticks));

const isResults = (value: unknown): boolean =>
  isFields(value) &&
  (Array.isArray(value.simulations) || Array.isArray(value.tasks)) &&
  isFields(value.info) &&
  isFields(value.info.agent_info);

function read(record: RawRecord): AdapterItem[] {
  const value = fields(record.value);
  if (isSimulation(value)) return tryBuild(record, () => draftOf(value, {}));
  const simulations = objects(value.simulations);
  if (simulations.length === 0)
    return [
      problemWith(record, {
        code: 'TRACE_NO_RECORDINGS',
        message:
          'the results have no simulations: they are in the files of the folder "simulations" next to it',
      }),
    ];
  return simulations.flatMap((simulation) => tryBuild(record, () => draftOf(simulation, value)));
}

function draftOf(simulation: Fields, results: Fields): Draft {
  const dialogue = new Dialogue();
  const model = label(fields(fields(results.info).agent_info).llm);
  const messages = objects(simulation.messages);
  for (const message of messages) addMessage(message, dialogue, model);
  const taskId = label(simulation.task_id);
  const task = objects(results.tasks).find(
    ({ id }) => taskId !== undefined && label(id) === taskId,
  );
  const seconds = amount(simulation.duration);
  const usd = amount(simulation.agent_cost);
  const isVoice = messages.length === 0 && Array.isArray(simulation.ticks);
  const reason = label(simulation.termination_reason);
  return {
    source: { format: FORMAT },
    steps: dialogue.steps,
    turns: withoutStops(dialogue.turns),
    id:
      label(simulation.id) ??
      (taskId === undefined ? undefined : `${taskId}-${label(simulation.trial) ?? '0'}`),
    startedAt: time(simulation.start_time),
    endedAt: time(simulation.end_time),
    status: statusOf(reason),
    ending: endingOf(reason),
    task: { id: taskId, expected: fields(task?.evaluation_criteria).actions },
    outcomes: outcomesOf(simulation),
    reported: {
      durationMs: seconds === undefined ? undefined : seconds * 1000,
      cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
    },
    records: isVoice ? {} : AGENT_RECORD,
    warnings: isVoice
      ? [
          {
            code: 'TAU2_VOICE',
            message: 'the simulation was spoken: it has ticks of audio and no messages',
          },
        ]
      : [],
    meta: { termination_reason: reason },
  };
}

const ENDED_WELL = new Set(['user_stop', 'agent_stop']);
const statusOf = (reason: string | undefined): Trace['status'] | undefined => {
  if (reason === undefined || ENDED_WELL.has(reason)) return undefined;
  if (/error/.test(reason)) return 'error';
  return 'incomplete';
};

function outcomesOf(simulation: Fields): NonNullable<Trace['outcomes']> {
  const reward = number(fields(simulation.reward_info).reward);
  return reward === undefined ? [] : [{ name: 'reward', value: reward, by: FORMAT }];
}

function addMessage(message: Fields, dialogue: Dialogue, model: string | undefined): void {
  const at = time(message.timestamp);
  const said = text(message.content) ?? '';
  const calls = objects(message.tool_calls);
  if (message.role === 'tool') {
    const results = Array.isArray(message.tool_messages)
      ? objects(message.tool_messages)
      : [message];
    for (const result of results) {
      if (result.requestor === 'user')
        dialogue.add({
          kind: 'event',
          name: 'user.tool_result',
          data: userResult(result),
          t0: at,
        });
      else dialogue.hear(resultTurn(result, at));
    }
  } else if (message.role === 'assistant') {
    const asked = calls.filter(({ requestor }) => requestor !== 'user').map(callOf);
    const usd = amount(message.cost);
    dialogue.reply(
      { ...turnOfText('assistant', said), calls: asked.length === 0 ? undefined : asked },
      {
        t0: at,
        timing: at === undefined ? undefined : ('estimated' as const),
        model,
        usage: usageOf(message.usage),
        cost: usd === undefined || usd === 0 ? undefined : { usd, source: 'reported' as const },
      },
    );
  } else {
    if (said !== '' || calls.length === 0)
      dialogue.hear({
        ...turnOfText(message.role === 'system' ? 'system' : 'user', said),
        at,
      });
    for (const call of calls)
      dialogue.add({
        kind: 'event',
        name: 'user.tool_call',
        data: { actor: 'user', ...callOf(call) },
        t0: at,
      });
  }
}

const callOf = (call: Fields): Call => ({
  name: label(call.name) ?? 'unknown',
  ...argumentsOf(call.arguments),
  id: label(call.id),
});

const userResult = (result: Fields) => ({
  actor: 'user',
  id: label(result.id),
  result: outcomeOf(result.content).value,
  failed: result.error === true,
});

function resultTurn(result: Fields, at: number | undefined): Turn {
  const { value, parts } = outcomeOf(result.content);
  const failed = result.error === true;
  let status: 'error' | 'ok' | undefined;
  if (failed) status = 'error' as const;
  else if (result.error === false) status = 'ok' as const;
  return {
    role: 'tool',
    parts,
    at,
    status,
    callId: label(result.id),
    result: value,
    error: failed ? { message: text(result.content) ?? '' } : undefined,
  };
}

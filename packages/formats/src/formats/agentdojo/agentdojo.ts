import { present } from '@agentci/lib/data';
import type { Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation } from '../../build/conversation.ts';
import type { Draft, Turn } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import { messageTurns } from '../../build/messages.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { amount, fields, label, objects, pick } from '../../build/values.ts';

const FORMAT = 'agentdojo';

/**
 * Runs of AgentDojo, and rows someone made of them. Ids of calls are often empty or null: results belong to calls in
 * their order, by the name of the tool. Utility and security are verdicts of the benchmark.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary:
    'AgentDojo runs: {suite_name, user_task_id, injection_task_id, messages, utility, security}',
  unit: 'record',
  detect: (sample) => worst(sample, likeness),
  read: (records) =>
    records.flatMap((record) => tryBuild(record, () => draftOf(fields(record.value)))),
};

function likeness(value: unknown): number {
  if (!isFields(value) || !Array.isArray(value.messages)) return 0;
  const about = aboutOf(value);
  return 'suite_name' in about && 'user_task_id' in about ? 0.98 : 0;
}

/** Rows nest the facts about the run one level down. */
const aboutOf = (value: Fields): Fields =>
  isFields(value.metadata) && !('suite_name' in value) ? value.metadata : value;

function draftOf(run: Fields): Draft {
  const about = aboutOf(run);
  const injection = label(about.injection_task_id);
  const userTask = label(about.user_task_id);
  const names = [
    about.suite_name,
    pick(about, 'pipeline_name', 'model'),
    userTask,
    about.attack_type,
    injection,
  ];
  const model = label(pick(about, 'model', 'pipeline_name'));
  const seconds = amount(about.duration);
  const failure = label(pick(run, 'error'));
  return {
    source: { format: FORMAT },
    id: names.flatMap((name) => label(name) ?? []).join('/'),
    ...conversation(objects(run.messages).flatMap(turnsOf), () => ({ model })),
    task: userTask === undefined ? undefined : { id: userTask },
    outcomes: outcomesOf(about),
    reported: seconds === undefined ? undefined : { durationMs: seconds * 1000 },
    status: failure === undefined ? undefined : 'error',
    error: failure === undefined ? undefined : { message: failure },
    records: AGENT_RECORD,
    meta: {
      suite: label(about.suite_name),
      attack: label(about.attack_type),
      injection_task: injection,
    },
  };
}

/** In an attacked run, `security: true` means that the injected task was carried out. */
function outcomesOf(about: Fields): NonNullable<Trace['outcomes']> {
  const utility = pick(about, 'utility', 'success');
  const isAttacked =
    label(about.injection_task_id) !== undefined || label(about.attack_type) !== undefined;
  const name = isAttacked ? 'attack_succeeded' : 'security';
  return present([
    typeof utility === 'boolean' ? { name: 'utility', value: utility, by: FORMAT } : undefined,
    typeof about.security === 'boolean' ? { name, value: about.security, by: FORMAT } : undefined,
  ]);
}

function turnsOf(message: Fields): Turn[] {
  const turns = messageTurns(message);
  if (message.role !== 'tool') return turns;
  const called = fields(message.tool_call);
  const name = label(isFields(called.function) ? called.function.name : called.function);
  const failure = label(message.error);
  let outcome: Pick<Turn, 'status' | 'error'> = {};
  if (failure !== undefined) outcome = { status: 'error', error: { message: failure } };
  else if ('error' in message) outcome = { status: 'ok' };
  return turns.map((turn) => ({
    ...turn,
    name: turn.name ?? name,
    callId: turn.callId ?? label(called.id),
    ...outcome,
  }));
}

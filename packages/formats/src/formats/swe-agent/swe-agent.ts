import { hasValues } from '@agentci/lib/data';
import type { Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Dialogue } from '../../build/dialogue.ts';
import type { Draft } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { amount, fields, label, objects, pick, text } from '../../build/values.ts';
import {
  actionCount,
  hasCommands,
  historySteps,
  miniSteps,
  trajectorySteps,
} from './swe-agent-steps.ts';

const FORMAT = 'swe-agent';

/** Trajectories of SWE-agent (`.traj`) and mini-SWE-agent. The patch it submits is the answer. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'SWE-agent trajectories (.traj) and mini-SWE-agent runs',
  unit: (sample) => (isMiniList(sample) ? 'file' : 'record'),
  detect: (sample) => (isMiniList(sample) ? 0.98 : worst(sample, likeness)),
  // A single mini-SWE-agent message looks like any chat message; the list identifies it.
  recognises: (value) =>
    likeness(value) > 0 || (isFields(value) && 'role' in value && 'content' in value),
  read: (records) => {
    const values = records.map(({ value }) => value);
    const [first] = records;
    if (first !== undefined && isMiniList(values))
      return tryBuild(first, () =>
        draftOf({ messages: values, info: {}, trajectory_format: 'mini-swe-agent' }),
      );
    return records.flatMap((record) => tryBuild(record, () => draftOf(fields(record.value))));
  },
};

/** Plain mini-SWE-agent messages: commands in blocks, and their output in special tags. */
function isMiniList(values: readonly unknown[]): boolean {
  const messages = values.filter(isFields);
  if (messages.length === 0 || messages.length < values.length) return false;
  return messages.every(({ role }) => typeof role === 'string') && hasCommands(messages);
}

function likeness(value: unknown): number {
  if (!isFields(value)) return 0;
  if (isMini(value)) return 0.97;
  const steps = objects(value.trajectory);
  if (steps.length > 0 && steps.every((step) => 'action' in step && 'observation' in step))
    return 0.97;
  const history = objects(value.history);
  return history.length > 0 &&
    history.every((turn) => 'role' in turn && ('message_type' in turn || 'agent' in turn))
    ? 0.95
    : 0;
}

const isMini = (value: Fields): boolean =>
  Array.isArray(value.messages) &&
  isFields(value.info) &&
  ('exit_status' in value.info ||
    label(value.trajectory_format)?.startsWith('mini-swe-agent') === true);

function draftOf(run: Fields): Draft {
  const info = fields(run.info);
  const stats = fields(info.model_stats);
  const history = objects(run.history);
  const dialogue = dialogueOf(run, history);
  const submission = text(info.submission);
  const usd = amount(stats.instance_cost);
  const sent = amount(stats.tokens_sent);
  const received = amount(stats.tokens_received);
  const counted = (sent ?? 0) + (received ?? 0) > 0;
  const reported: NonNullable<Trace['reported']> = {
    usage: counted ? { input: sent, output: received } : undefined,
    cost: usd === undefined || usd === 0 ? undefined : { usd, source: 'reported' as const },
    llmCalls: amount(stats.api_calls) === 0 ? undefined : amount(stats.api_calls),
  };
  return {
    source: { format: FORMAT, dialects: isMini(run) ? ['mini'] : undefined },
    steps: dialogue.steps,
    turns: dialogue.turns,
    id: label(pick(run, 'instance_id', 'environment_id')),
    status: statusOf(label(info.exit_status)),
    final: submission === undefined || submission === '' ? undefined : { text: submission },
    reported: hasValues(reported) ? reported : undefined,
    counts: {
      llmCalls: reported.llmCalls,
      toolCalls: isMini(run) ? undefined : actionCount(objects(run.trajectory)),
    },
    records: MESSAGES_RECORD,
    meta: { exit_status: label(info.exit_status), environment: label(run.environment) },
  };
}

/** `submitted` is the good end; `submitted (exit_cost)` was cut short and sent in all the same. */
function statusOf(exit: string | undefined): Trace['status'] | undefined {
  if (exit === undefined) return undefined;
  if (/^submitted$/i.test(exit)) return 'ok';
  return /^submitted|cost|limit|context|format|skipped|early/i.test(exit) ? 'incomplete' : 'error';
}

function dialogueOf(run: Fields, history: readonly Fields[]): Dialogue {
  if (isMini(run)) return miniSteps(objects(run.messages));
  const trajectory = objects(run.trajectory);
  return history.length > 0 ? historySteps(history, trajectory) : trajectorySteps(trajectory);
}

import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation } from '../../build/conversation.ts';
import type { Draft, Turn } from '../../build/draft.ts';
import { best } from '../../build/likeness.ts';
import { messageTurns } from '../../build/messages.ts';
import { namedRuns } from '../../build/named-runs.ts';
import { AGENT_RECORD } from '../../build/records.ts';
import { anthropicUsage } from '../../build/token-usage.ts';
import { amount, fields, label, objects, pick, text } from '../../build/values.ts';

const FORMAT = 'strands';

/** Strands Agents, and Bedrock Converse, whose blocks they are: messages, alone or with a system prompt and metrics. */
export const adapter: Adapter = {
  format: FORMAT,
  summary:
    'Strands Agents messages (and Bedrock Converse): {role, content: [{text} | {toolUse} | {toolResult}]}',
  unit: (sample) =>
    sample.length > 0 && sample.every((value) => runsOf(value) !== undefined) ? 'record' : 'file',
  detect: (sample) => best(sample, likeness),
  read,
};

function likeness(value: unknown): number {
  const runs = runsOf(value);
  return runs === undefined
    ? messageLikeness(messageOf(value))
    : Math.max(...runs.map(([, run]) => listLikeness(run)));
}

const listLikeness = ({ messages }: Run): number => best(messages.slice(0, 50), messageLikeness);

const TELLING = ['toolUse', 'toolResult', 'reasoningContent', 'guardContent', 'cachePoint'];

/**
 * Blocks are untyped and named by their key. A text alone could be another format with untyped
 * blocks.
 */
function messageLikeness(value: unknown): number {
  if (
    !isFields(value) ||
    (value.role !== 'user' && value.role !== 'assistant') ||
    !Array.isArray(value.content)
  )
    return 0;
  if (!value.content.every((block) => isFields(block) && !('type' in block))) return 0;
  const blocks = objects(value.content);
  if (blocks.some((block) => TELLING.some((key) => key in block))) return 0.95;
  return blocks.length > 0 && blocks.every((block) => typeof block.text === 'string') ? 0.6 : 0.2;
}

interface Run {
  readonly messages: readonly unknown[];
  readonly about: Fields;
}

function runsOf(value: unknown): readonly (readonly [string, Run])[] | undefined {
  const one = runOf(value);
  return one === undefined ? namedRuns(value, runOf) : [['', one]];
}

function runOf(value: unknown): Run | undefined {
  if (!isFields(value) || !Array.isArray(value.messages)) return undefined;
  const run = { messages: value.messages, about: value };
  return listLikeness(run) > 0 ? run : undefined;
}

/** Session stores keep each message in an envelope: `{message, message_id, created_at}`. */
const messageOf = (value: unknown): unknown =>
  isFields(value) && isFields(value.message) && 'message_id' in value ? value.message : value;

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (runsOf(first.value) === undefined)
    return tryBuild(first, () =>
      draftOf({ messages: records.map(({ value }) => messageOf(value)), about: {} }, ''),
    );
  return records.flatMap((record) =>
    (runsOf(record.value) ?? []).flatMap(([name, run]) =>
      tryBuild(record, () => draftOf(run, name)),
    ),
  );
}

function draftOf({ messages, about }: Run, name: string): Draft {
  const result = isFields(about.result) ? about.result : about;
  const metrics = fields(result.metrics);
  const usage = anthropicUsage(
    pick(metrics, 'accumulated_usage', 'accumulatedUsage') ?? about.usage,
  );
  const latency = amount(
    fields(pick(metrics, 'accumulated_metrics', 'accumulatedMetrics')).latencyMs,
  );
  const stop = label(pick(result, 'stop_reason', 'stopReason'));
  const turns = [
    ...systemTurns(pick(about, 'system_prompt', 'system')),
    ...objects(messages).flatMap(messageTurns),
  ];
  const id = name === '' ? label(pick(about, 'session_id', 'id')) : name;
  const replies = objects(messages).filter(({ role }) => role === 'assistant');
  let next = 0;
  return {
    source: { format: FORMAT },
    ...conversation(turns, () => {
      const own = fields(fields(replies[next++]).metadata);
      return { usage: anthropicUsage(own.usage) };
    }),
    id,
    reported:
      usage === undefined && latency === undefined ? undefined : { usage, durationMs: latency },
    records: AGENT_RECORD,
    meta: { stop_reason: stop },
  };
}

function systemTurns(prompt: unknown): Turn[] {
  const words =
    typeof prompt === 'string'
      ? [prompt]
      : objects(prompt).flatMap((block) => text(block.text) ?? []);
  return words.length === 0
    ? []
    : [{ role: 'system', parts: words.map((said) => ({ type: 'text' as const, text: said })) }];
}

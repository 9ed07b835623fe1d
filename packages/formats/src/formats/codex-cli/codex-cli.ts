import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { most } from '../../build/likeness.ts';
import { isResponseItem } from '../../build/response-items.ts';
import { objects } from '../../build/values.ts';
import { execDraft, isExecEvent } from './codex-exec.ts';
import { execEvents, isProtoLine } from './codex-proto.ts';
import { isRolloutLine, rolloutDraft } from './codex-rollout.ts';

const FORMAT = 'codex-cli';

/** Codex: the events of `codex exec --json`, and the session files it keeps (`rollout-*.jsonl`). */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'Codex CLI: exec --json events and rollout session files',
  unit: (sample) =>
    sample.length > 0 && sample.every((value) => wrappedEvents(value) !== undefined)
      ? 'record'
      : 'file',
  detect: (sample) => most(sample, likeness),
  allowsStrays: true,
  read,
};

const likeness = (value: unknown): number => {
  if (isExecEvent(value) || isRolloutLine(value) || isProtoLine(value)) return 0.97;
  if (wrappedEvents(value) !== undefined) return 0.97;
  return 0;
};

/** Events, or the items of a session, as a program collected them. */
function wrappedEvents(value: unknown): readonly Fields[] | undefined {
  if (!isFields(value)) return undefined;
  const events = objects(value.events);
  if (events.length > 0)
    return events.every(isExecEvent) || events.every(isRolloutLine) ? events : undefined;
  const items = objects(value.items);
  if (items.length === 0 || 'object' in value) return undefined;
  if (items.every(isExecEvent) || items.every(isRolloutLine)) return items;
  const isItems =
    items.some(isResponseItem) &&
    items.every((item) => isResponseItem(item) || item.type === 'message');
  return isItems ? items.map((payload) => ({ type: 'response_item', payload })) : undefined;
}

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (wrappedEvents(first.value) !== undefined)
    return records.flatMap((record) =>
      tryBuild(record, () => draftOf(wrappedEvents(record.value) ?? [])),
    );
  return tryBuild(first, () => draftOf(records.map(({ value }) => value).filter(isFields)));
}

const draftOf = (lines: readonly Fields[]) =>
  lines.some(isRolloutLine)
    ? rolloutDraft(lines, FORMAT)
    : execDraft(lines.some(isProtoLine) ? execEvents(lines) : lines, FORMAT);

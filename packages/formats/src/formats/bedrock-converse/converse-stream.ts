import { type Fields, isFields } from '@agentci/trace';
import { fields, parseJson } from '../../build/values.ts';

const EVENTS = new Set([
  'messageStart',
  'contentBlockStart',
  'contentBlockDelta',
  'contentBlockStop',
  'messageStop',
  'metadata',
]);
const FAILURES = /Exception$/;

/** The name of an event, its only key. Some writers wrap it as `{event: …}`. */
export function eventName(value: unknown): string | undefined {
  const event = bare(value);
  // InvokeModel adds metrics to the last event.
  const [name, ...others] = Object.keys(event).filter((key) => !key.startsWith('amazon-bedrock-'));
  return others.length === 0 ? name : undefined;
}

const bare = (value: unknown): Fields => {
  const event = fields(value);
  return isFields(event.event) && Object.keys(event).length === 1 ? event.event : event;
};

export function isConverseEvent(value: unknown): boolean {
  const name = eventName(value);
  if (name === undefined || !isFields(bare(value)[name])) return false;
  // Usage alone is under this name in other formats too.
  if (name === 'metadata') return isFields(fields(bare(value).metadata).usage);
  return EVENTS.has(name) || FAILURES.test(name);
}

interface JoinedReply {
  readonly content: readonly Fields[];
  readonly stopReason: unknown;
  readonly usage: unknown;
  /** An event was unreadable or reports a failed stream. */
  readonly isDamaged: boolean;
}

interface OpenBlock {
  start: Fields;
  text: string;
  json: string;
  thought: string;
  others: Fields[];
}

/** A streamed reply put together, block by block. */
export function joined(events: readonly unknown[]): JoinedReply {
  const blocks = new Map<number, OpenBlock>();
  let stopReason: unknown;
  let usage: unknown;
  let isDamaged = false;
  for (const given of events) {
    const name = eventName(given);
    const event = fields(bare(given)[name ?? '']);
    if (name === 'messageStop') stopReason = event.stopReason;
    else if (name === 'metadata') usage = event.usage;
    else if (name === undefined || !EVENTS.has(name)) isDamaged = true;
    const index = typeof event.contentBlockIndex === 'number' ? event.contentBlockIndex : 0;
    if (name !== 'contentBlockStart' && name !== 'contentBlockDelta') continue;
    const block = blocks.get(index) ?? { start: {}, text: '', json: '', thought: '', others: [] };
    blocks.set(index, block);
    if (name === 'contentBlockStart') block.start = fields(event.start);
    else addDelta(block, fields(event.delta));
  }
  return { content: [...blocks.values()].flatMap(blockOf), stopReason, usage, isDamaged };
}

function addDelta(block: OpenBlock, delta: Fields): void {
  const { text, toolUse, reasoningContent, ...others } = delta;
  if (typeof text === 'string') block.text += text;
  const { input } = fields(toolUse);
  if (typeof input === 'string') block.json += input;
  const thought = fields(reasoningContent).text;
  if (typeof thought === 'string') block.thought += thought;
  if (Object.keys(others).length > 0) block.others.push(others);
}

/** The kind of a block is its only key. An unknown kind of tool use is still a call. */
function blockOf({ start, text, json, thought, others }: OpenBlock): Fields[] {
  const [kind] = Object.keys(start);
  if (kind === undefined) {
    const said =
      thought === '' ? { text } : { reasoningContent: { reasoningText: { text: thought } } };
    // Arguments without the start of their call are of a call that nothing names.
    if (json !== '') return [{ toolUse: { input: parseJson(json) ?? json } }];
    return text === '' && thought === '' ? others : [said, ...others];
  }
  const inner = fields(start[kind]);
  const input = json === '' ? (inner.input ?? {}) : (parseJson(json) ?? json);
  if (kind === 'toolUse') return [{ toolUse: { ...inner, input } }];
  return [{ type: kind, ...inner, input }];
}

import { present } from '@agentci/lib/data';
import type { Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter } from '../../adapter.ts';
import { plainMessage, textOf } from '../../build/answer.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft, GapNote } from '../../build/draft.ts';
import { langchainMessage } from '../../build/langchain.ts';
import { worst } from '../../build/likeness.ts';
import { mentionsIn } from '../../build/mentions.ts';
import { turnsOf } from '../../build/messages.ts';
import { TRACING_RECORD } from '../../build/records.ts';
import { amount, fields, label, objects, pick, text, time } from '../../build/values.ts';
import { isControlFlow, runStep, runUsage } from './langsmith-run.ts';

const FORMAT = 'langsmith';

/** Runs of LangSmith: exported, as the SDK posts them (a batch or a multipart body), or as trees with child runs. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'LangSmith runs: exports, ingest batches and multipart bodies, run trees',
  unit: 'file',
  detect: (sample) => worst(sample, likeness),
  read: (records) => {
    const runs = new Map<string, Fields>();
    for (const record of records) collect(record.value, runs);
    return byTrace(runs).flatMap((group) => tryBuild(records[0]!, () => draftOf(group)));
  },
};

const PART =
  /^(post|patch)\.([0-9a-f-]{16,64})(?:\.(inputs|outputs|extra|events|error|serialized))?$/i;

function likeness(value: unknown): number {
  if (!isFields(value)) return 0;
  if (typeof value.part === 'string') return PART.test(value.part) ? 0.98 : 0;
  if (isBatch(value))
    return [...objects(value.post), ...objects(value.patch)].length === 0 ? 0.5 : 0.98;
  if (Array.isArray(value.runs)) return worst(value.runs.slice(0, 20), likeness);
  return typeof value.run_type === 'string' &&
    ('inputs' in value || 'dotted_order' in value || 'start_time' in value)
    ? 0.97
    : 0;
}

const isBatch = (value: Fields): boolean =>
  Array.isArray(value.post) && (Array.isArray(value.patch) || value.patch === undefined);

/**
 * Merges the data about a run from several places: a post, later patches, parts of a multipart
 * body.
 */
function collect(value: unknown, runs: Map<string, Fields>): void {
  const open: { value: unknown; parent?: string }[] = [{ value }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const item = fields(next.value);
    const part = typeof item.part === 'string' ? PART.exec(item.part) : null;
    if (part !== null) {
      const [, , id, field] = part;
      merge(runs, id!, field === undefined ? fields(item.value) : { [field]: item.value });
      continue;
    }
    const lists = [...objects(item.patch), ...objects(item.post), ...objects(item.runs)];
    if (lists.length > 0) {
      for (const inner of lists.toReversed()) open.push({ value: inner });
      continue;
    }
    const id = label(item.id) ?? idInOrder(item.dotted_order);
    if (id === undefined) continue;
    merge(runs, id, next.parent === undefined ? item : { parent_run_id: next.parent, ...item });
    for (const child of objects(item.child_runs).toReversed())
      open.push({ value: child, parent: id });
  }
}

/** A patch may leave its id out: the last part of its place in the trace, `TIME Z ID`, has it. */
function idInOrder(order: unknown): string | undefined {
  const last = typeof order === 'string' ? order.split('.').at(-1) : undefined;
  return last === undefined ? undefined : /Z([0-9a-f-]{16,64})$/i.exec(last)?.[1];
}

function merge(runs: Map<string, Fields>, id: string, more: Fields): void {
  const known: Record<string, unknown> = { ...runs.get(id) };
  for (const [key, value] of Object.entries(more))
    if (value !== undefined && value !== null) known[key] = value;
  runs.set(id, { ...known, id });
}

function byTrace(runs: ReadonlyMap<string, Fields>): Fields[][] {
  const groups = new Map<string, Fields[]>();
  for (const run of runs.values()) {
    const key = label(run.trace_id) ?? rootOf(run, runs);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [run]);
    else group.push(run);
  }
  return [...groups.values()].map((group) =>
    group.toSorted((a, b) => compare(orderOf(a), orderOf(b))),
  );
}

function rootOf(run: Fields, runs: ReadonlyMap<string, Fields>): string {
  const seen = new Set<Fields>();
  let current = run;
  for (
    let above = runs.get(label(current.parent_run_id) ?? '');
    above !== undefined && !seen.has(above);
    above = runs.get(label(current.parent_run_id) ?? '')
  ) {
    seen.add(current);
    current = above;
  }
  return label(current.id) ?? '';
}

const orderOf = (run: Fields): string => label(run.dotted_order) ?? '';
const compare = (a: string, b: string): number => {
  if (a < b) return -1;
  if (a > b) return 1;
  return 0;
};

function draftOf(runs: readonly Fields[]): Draft {
  const root =
    runs.find((run) => run.parent_run_id === undefined || run.parent_run_id === null) ?? runs[0]!;
  const usd = amount(root.total_cost);
  const input = messagesIn(root.inputs);
  const final = finalOf(root.outputs);
  const failed =
    typeof root.error === 'string' && !isControlFlow(root.error) ? root.error : undefined;
  return {
    id: label(root.trace_id) ?? label(root.id),
    final,
    source: { format: FORMAT },
    steps: runs.map((run) => stepOf(run)),
    records: TRACING_RECORD,
    gaps: absentRuns(runs),
    mentions: runs.flatMap(mentionsOf),
    speakersHandOff: true,
    task: input.length !== 0 ? { input } : undefined,
    reported: {
      cost: usd === undefined || usd === 0 ? undefined : { usd, source: 'reported' as const },
      // The root's tokens are those of all its model calls.
      usage: root.run_type === 'llm' ? undefined : runUsage(root),
    },
    status: failed === undefined ? undefined : ('error' as const),
    error: failed === undefined ? undefined : { message: failed.split('\n\n')[0] ?? failed },
    meta: {
      session: label(fields(fields(root.extra).metadata).thread_id),
      name: label(root.name),
    },
  };
}

const CALLS_TOOL = /^(?:call|execute|run|invoke)_?tools?$|^tool_?call$/i;

/** Tools that a node's messages mention, and the input of functions that call tools. */
function mentionsOf({ run_type, name, inputs, outputs }: Fields): string[] {
  if (run_type === 'tool' || run_type === 'retriever') return [];
  const given = CALLS_TOOL.test(label(name) ?? '')
    ? label(pick(fields(inputs), 'name', 'tool_name', 'tool'))
    : undefined;
  return present([given === undefined ? undefined : given, ...mentionsIn(outputs)]);
}

/** Missing runs that others name as children or parents. */
function absentRuns(runs: readonly Fields[]): GapNote[] {
  const known = new Set(runs.flatMap(({ id }) => label(id) ?? []));
  const named = runs.flatMap((run) =>
    [run.child_run_ids, run.direct_child_run_ids].flatMap((ids) =>
      Array.isArray(ids) ? ids.flatMap((id) => label(id) ?? []) : [],
    ),
  );
  const absent = new Set(named.filter((id) => !known.has(id)));
  return absent.size === 0 ? [] : [{ gap: 'absentChildren', detail: `${absent.size} child runs` }];
}

function stepOf(run: Fields) {
  const extra = fields(run.extra);
  return runStep({
    id: label(run.id) ?? '',
    parent: label(run.parent_run_id),
    name: label(run.name) ?? 'unknown',
    type: label(run.run_type) ?? 'chain',
    metadata: fields(extra.metadata),
    inputs: run.inputs,
    outputs: run.outputs,
    error: run.error,
    extra,
    t0: time(run.start_time),
    t1: time(run.end_time),
    cost: run.total_cost,
    usage: runUsage(run),
  });
}

function messagesIn(inputs: unknown): NonNullable<NonNullable<Trace['task']>['input']> {
  const given = fields(inputs);
  const list = given.messages;
  const asked = pick(given, 'input', 'question', 'query', 'prompt');
  const turns = Array.isArray(list)
    ? turnsOf(list.flat())
    : turnsOf(typeof asked === 'string' ? asked : []);
  const end = turns.findLastIndex(({ role }) => role === 'user');
  return turns.slice(0, end + 1).map(plainMessage);
}

/** The last message of the assistant in the state a graph ends with, or the output of a chain. */
function finalOf(outputs: unknown): Trace['final'] | undefined {
  const given = fields(outputs);
  if (Array.isArray(given.messages)) {
    const last = given.messages
      .flat()
      .map((message) => langchainMessage(message) ?? message)
      .at(-1);
    const [turn] = turnsOf(isFields(last) ? [last] : []);
    const said = turn?.role === 'assistant' && turn.calls === undefined ? textOf(turn) : undefined;
    return said === undefined ? undefined : { text: said };
  }
  const said = text(pick(given, 'output', 'answer', 'result', 'text'));
  return said === undefined ? undefined : { text: said };
}

import { present } from '@agentci/lib/data';
import { exactNameSlip } from '@agentci/lib/text';
import { queryId } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { type Quantity, queryText, toolNames, totals } from '@agentci/trace';
import { conversationSpec, unwritableConversation } from './conversation-lines.ts';
import { isGrade, isSuccess } from './outcomes.ts';

/** Headroom above the measured value, so that the next run does not exceed the budget by chance. */
const TOKEN_ROOM = 1.25;
const LATENCY_ROOM = 1.5;

export interface SpecCase {
  readonly id: string;
  readonly query: string;
  /** The runs of one task, in recording order. */
  readonly traces: readonly Trace[];
}

export interface SpecPlan {
  readonly text: string;
  readonly cases: readonly SpecCase[];
  /** Traces that cannot become a test, with the reason. */
  readonly left: readonly { readonly id: string; readonly why: string }[];
}

interface SpecOptions {
  readonly agent: string;
  readonly replay: string;
  readonly baselineDir: string;
}

/**
 * A spec with one query per task: the recorded outcome, the called tools, budgets with headroom,
 * the recording as baseline. Recordings of the same task are its repeats.
 */
export function writeSpecText(traces: readonly Trace[], options: SpecOptions): SpecPlan {
  const cases: SpecCase[] = [];
  const left: { id: string; why: string }[] = [];
  const ids = new Map<string, number>();
  const blocks: string[] = [];
  for (const runs of byTask(traces)) {
    const [first] = runs;
    const query = runs
      .map((run) => queryText(run)?.trim())
      .find((text) => text !== undefined && text !== '');
    if (query === undefined) {
      left.push(
        ...runs.map(({ id }) => ({ id, why: 'the recording does not say what was asked' })),
      );
      continue;
    }
    const unwritable = unwritableConversation(runs);
    if (unwritable !== undefined) {
      left.push(...runs.map(({ id }) => ({ id, why: unwritable })));
      continue;
    }
    const checks = present([
      runs.length > 1 ? `    runs: ${runs.length}` : undefined,
      ...checksOf(runs),
    ]);
    if (checks.length === (runs.length > 1 ? 1 : 0)) {
      left.push({
        id: first!.id,
        why: 'neither an outcome nor tool calls nor tokens nor times were captured',
      });
      continue;
    }
    const base = queryId(query);
    const count = (ids.get(base) ?? 0) + 1;
    ids.set(base, count);
    const id = count === 1 ? base : `${base}-${count}`;
    cases.push({ id, query, traces: runs });
    const conversation = conversationSpec(runs, { quoted, isWritable });
    blocks.push(
      [`  - id: ${id}`, `    query: ${quoted(query)}`, ...conversation, ...checks].join('\n'),
    );
  }
  const head = headLines(options, blocks);
  return { text: `${[...head, ...blocks].join('\n')}\n`, cases, left };
}

function headLines(
  { agent, replay, baselineDir }: SpecOptions,
  blocks: readonly string[],
): readonly string[] {
  return [
    '# Made by "agentci import". Tokens have 25 % room and latency 50 %: set them to what you can accept.',
    blocks.some((block) => block.includes('    correctness:'))
      ? '# The outcome is the one the recordings carry; add what else a right answer needs under "correctness:".'
      : '# Nothing here says yet what a right answer is: add "correctness:" to each query.',
    'version: 1',
    `agent: ${quoted(agent)}`,
    `baseline_dir: ${quoted(baselineDir)}`,
    'runner:',
    `  replay: ${quoted(replay)}`,
    'queries:',
  ];
}

/** Groups runs by task. A run without a task is its own group. */
function byTask(traces: readonly Trace[]): readonly (readonly Trace[])[] {
  const groups = new Map<string, Trace[]>();
  for (const [i, trace] of traces.entries()) {
    const task = trace.task?.id;
    const key = task === undefined ? `#${i}` : `${trace.source.format}\0${task}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [trace]);
    else group.push(trace);
  }
  return [...groups.values()];
}

/** The checks that every run of the task would pass. A budget covers the largest run. */
function checksOf(runs: readonly Trace[]): string[] {
  const lines = outcomeLines(runs);
  if (runs.every(({ captured }) => captured.toolCalls === 'full')) {
    const names = runs.map(toolNames);
    const always = [...new Set(names[0])].filter((name) =>
      names.every((own) => own.includes(name)),
    );
    const most = Math.max(...names.map(({ length }) => length));
    // Runs without a common tool do not predict the tools of the next run.
    if (always.length > 0 || most === 0)
      lines.push(
        '    path:',
        `      expected_tools: [${always.filter(isWritable).map(quoted).join(', ')}]`,
      );
    else lines.push('    path:');
    if (most > 0) lines.push(`      max_tool_calls: ${most}`);
  }
  const tokens = largest(runs.map((run) => totals(run).totalTokens));
  const latency = largest(runs.map((run) => totals(run).latencyMs));
  const cost: string[] = [];
  if (tokens > 0) cost.push(`      max_total_tokens: ${withRoom(tokens, TOKEN_ROOM)}`);
  if (latency > 0) cost.push(`      max_latency_ms: ${withRoom(latency, LATENCY_ROOM)}`);
  return cost.length === 0 ? lines : [...lines, '    cost:', ...cost];
}

/** The largest amount, or 0 if one is unknown. */
const largest = (amounts: readonly Quantity[]): number =>
  amounts.every(({ exact }) => exact)
    ? Math.max(...amounts.map((one) => (one.exact ? one.value : 0)))
    : 0;

/** If every run of the task has a reward, the reward defines success. */
function outcomeLines(runs: readonly Trace[]): string[] {
  const names = (runs[0]?.outcomes ?? []).map(({ name }) => name);
  for (const says of [isSuccess, isGrade]) {
    const name = names.find((own) =>
      runs.every(({ outcomes = [] }) => outcomes.some((one) => one.name === own && says(one))),
    );
    if (name === undefined) continue;
    const bound = says === isGrade ? 'equals: "C"' : 'min: 1';
    return ['    correctness:', `      outcome: {name: ${quoted(name)}, ${bound}}`];
  }
  return [];
}

/** Rounded up to two digits: 1,373 becomes 1,400. */
export function withRoom(value: number, room: number): number {
  const wanted = value * room;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(wanted)) - 1);
  return Math.ceil(wanted / unit) * unit;
}

/** JSON quoting is valid YAML, except for U+2028 and U+2029, which are escaped. */
const quoted = (text: string): string =>
  JSON.stringify(text)
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
    .replaceAll('\u0085', '\\u0085')
    .replaceAll('\u007f', '\\u007f');

/** Leaves out names that the spec would report as a typo. */
const isWritable = (name: string): boolean => exactNameSlip(name) === undefined;

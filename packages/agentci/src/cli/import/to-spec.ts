import { exactNameSlip } from '../../kit/name-slip.ts';
import { queryId } from '../../spec/query-id.ts';
import type { Trace } from '../../trace/model.ts';
import { queryText, toolNames } from '../../trace/selectors.ts';
import { totals } from '../../trace/totals.ts';

/** Room above what was measured: a budget that the very next run exceeds is no budget. */
const TOKEN_ROOM = 1.25;
const LATENCY_ROOM = 1.5;

export interface SpecCase {
  readonly id: string;
  readonly query: string;
  readonly trace: Trace;
}

export interface SpecPlan {
  readonly text: string;
  readonly cases: readonly SpecCase[];
  /** Traces no test can be made of, with the reason. */
  readonly left: readonly { readonly id: string; readonly why: string }[];
}

/** A spec with one query a recording: the tools it called, its budgets with room, the recording as its baseline. */
export function specFor(
  traces: readonly Trace[],
  options: { readonly agent: string; readonly replay: string; readonly baselineDir: string },
): SpecPlan {
  const cases: SpecCase[] = [];
  const left: { id: string; why: string }[] = [];
  const ids = new Map<string, number>();
  const blocks: string[] = [];
  for (const trace of traces) {
    const query = queryText(trace)?.trim();
    if (query === undefined || query === '') {
      left.push({ id: trace.id, why: 'the recording does not say what was asked' });
      continue;
    }
    const checks = checksOf(trace);
    if (checks.length === 0) {
      left.push({ id: trace.id, why: 'neither tool calls nor tokens nor times were captured' });
      continue;
    }
    const base = queryId(query);
    const count = (ids.get(base) ?? 0) + 1;
    ids.set(base, count);
    const id = count === 1 ? base : `${base}-${count}`;
    cases.push({ id, query, trace });
    blocks.push([`  - id: ${id}`, `    query: ${quoted(query)}`, ...checks].join('\n'));
  }
  const head = [
    '# Made by "agentci import". Tokens have 25 % room and latency 50 %: set them to what you can accept.',
    '# Nothing here says yet what a right answer is: add "correctness:" to each query.',
    'version: 1',
    `agent: ${quoted(options.agent)}`,
    `baseline_dir: ${quoted(options.baselineDir)}`,
    'runner:',
    `  replay: ${quoted(options.replay)}`,
    'queries:',
  ];
  return { text: `${[...head, ...blocks].join('\n')}\n`, cases, left };
}

function checksOf(trace: Trace): string[] {
  const lines: string[] = [];
  if (trace.captured.toolCalls === 'full') {
    const names = toolNames(trace);
    lines.push('    path:', `      expected_tools: [${[...new Set(names)].filter(isWritable).map(quoted).join(', ')}]`);
    if (names.length > 0) lines.push(`      max_tool_calls: ${names.length}`);
  }
  const { totalTokens, latencyMs } = totals(trace);
  const cost: string[] = [];
  if (totalTokens.exact && totalTokens.value > 0)
    cost.push(`      max_total_tokens: ${withRoom(totalTokens.value, TOKEN_ROOM)}`);
  if (latencyMs.exact && latencyMs.value > 0)
    cost.push(`      max_latency_ms: ${withRoom(latencyMs.value, LATENCY_ROOM)}`);
  return cost.length === 0 ? lines : [...lines, '    cost:', ...cost];
}

/** Rounded up to two digits: 1,373 becomes 1,400. */
export function withRoom(value: number, room: number): number {
  const wanted = value * room;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(wanted)) - 1);
  return Math.ceil(wanted / unit) * unit;
}

/** JSON's quoting is YAML's too; the two line ends that only JSON allows in a text are written out. */
const quoted = (text: string): string =>
  JSON.stringify(text)
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
    .replaceAll('\u0085', '\\u0085')
    .replaceAll('\u007f', '\\u007f');

/** A name that a spec would take for a slip is left out of what is expected. */
const isWritable = (name: string): boolean => exactNameSlip(name) === undefined;

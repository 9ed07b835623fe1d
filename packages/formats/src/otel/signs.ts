import { present } from '@agentci/lib/data';
import { type Fields, isFields } from '@agentci/trace';
import type { DraftStep, GapNote } from '../build/draft.ts';
import { mentionsIn } from '../build/mentions.ts';
import { amount, label, pick, unpacked } from '../build/values.ts';
import type { ReadSpan } from './group-runs.ts';
import type { Span } from './span.ts';

/** Attributes that list available tools. */
const DEFINITIONS =
  /(?:^|[._])(?:tools?|functions?|tool[._]definitions|available_tools|json_schema|schema|request[._]functions)(?:$|\.\d)/i;

/** Names of called tools in attributes and events of a run's spans, but not in tool results. */
export function mentionsOf(run: readonly ReadSpan[]): string[] {
  const found = new Set<string>();
  for (const { span, steps } of run) {
    if (steps.some(({ kind }) => kind === 'tool' || kind === 'retrieval')) continue;
    for (const name of namesInEvents(span)) found.add(name);
    for (const [key, value] of Object.entries(span.attributes)) {
      if (DEFINITIONS.test(key)) continue;
      if (typeof value === 'string' || typeof value === 'object')
        for (const name of mentionsIn(value)) found.add(name);
    }
  }
  return [...found];
}

const COUNT =
  /(?:^|[._])(?:num_?tool_?calls|tool_?calls?[._]?count|total_?tool_?calls|tool_?use_?count|web_search_requests|web_fetch_requests)$/i;

/** The largest number of tool calls that any span counts. */
export function countedCalls(run: readonly ReadSpan[]): number {
  let most = 0;
  for (const { span } of run)
    for (const [key, value] of Object.entries(span.attributes))
      if (COUNT.test(key)) most = Math.max(most, amount(value) ?? 0);
  return most;
}

/** Names of tools that the events of a span mention. */
export const namesInEvents = ({ events }: Span): string[] =>
  events.flatMap(
    ({ attributes }) => label(pick(attributes, 'gen_ai.tool.name', 'tool.name', 'tool_name')) ?? [],
  );

/** Gaps revealed by spans without a step and by the numbers of flattened messages. */
export const signsIn = (run: readonly ReadSpan[]): GapNote[] => [
  ...run.flatMap(({ span }) =>
    hasHoles(span.attributes) ? [{ gap: 'dropped' as const, detail: 'messages by number' }] : [],
  ),
  ...strayResults(run),
  ...unknownWork(run),
];

const NUMBERED = /^(.{0,200}?(?:messages|prompt|completion|tool_calls))\.(\d{1,5})\./;

/** Flattened messages are numbered, so a missing number is a gap. */
function hasHoles(attributes: Fields): boolean {
  const numbers = new Map<string, Set<number>>();
  for (const key of Object.keys(attributes)) {
    const [, prefix, index] = NUMBERED.exec(key) ?? [];
    if (prefix === undefined) continue;
    const seen = numbers.get(prefix) ?? new Set<number>();
    numbers.set(prefix, seen.add(Number(index)));
  }
  return [...numbers.values()].some((seen) => Math.max(...seen) >= seen.size);
}

/** Results in the events of a span that is otherwise plumbing: of a call that the run must show. */
function strayResults(run: readonly ReadSpan[]): GapNote[] {
  const steps = run.flatMap((read) => read.steps);
  const ids = new Set(steps.flatMap(idsOf));
  const hasTools = steps.some(({ kind }) => kind === 'tool');
  const stray = run.some(
    ({ span, steps: own }) =>
      own.every(({ kind }) => kind === 'span') &&
      span.events.some(({ name, attributes, body }) => {
        if (name !== 'gen_ai.tool.message') return false;
        const inner = unpacked(body);
        const id = label(
          attributes.id ?? attributes.tool_call_id ?? (isFields(inner) ? inner.id : undefined),
        );
        return id === undefined ? !hasTools : !ids.has(id);
      }),
  );
  return stray ? [{ gap: 'orphanResult', detail: 'in an event of a span' }] : [];
}

function idsOf(step: DraftStep): string[] {
  if (step.kind === 'tool') return step.callId === undefined ? [] : [step.callId];
  if (step.kind !== 'llm' && step.kind !== 'agent') return [];
  return present([
    ...(step.input ?? []),
    step.output === undefined ? undefined : step.output,
  ]).flatMap(({ callId, calls }) =>
    present([
      callId === undefined ? undefined : callId,
      ...(calls ?? []).flatMap(({ id }) => id ?? []),
    ]),
  );
}

const GIVEN =
  /^(?:(?!http|db|rpc|net|url)[\w-]{1,40}[._])?(?:input|inputs|args|arguments|code|command|parameters)(?:[._](?:value|json|data))?$/i;
const BROUGHT =
  /^(?:(?!http|db|rpc|net|url)[\w-]{1,40}[._])?(?:output|outputs|result|results|stdout)(?:[._](?:value|json|data))?$/i;

/** A span inside an agent that no convention describes and nothing is below, with an input and an output: perhaps a call. */
function unknownWork(run: readonly ReadSpan[]): GapNote[] {
  const parents = new Set(run.flatMap(({ span }) => span.parent ?? []));
  const likely = run.find(({ span, isForeign }) => {
    if (
      isForeign !== true ||
      span.parent === undefined ||
      (span.id !== undefined && parents.has(span.id))
    )
      return false;
    const keys = Object.keys(span.attributes);
    return keys.some((key) => GIVEN.test(key)) && keys.some((key) => BROUGHT.test(key));
  });
  return likely === undefined
    ? []
    : [{ gap: 'unknownStep', detail: likely.span.name.slice(0, 80) }];
}

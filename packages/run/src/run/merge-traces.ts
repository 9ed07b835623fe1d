import { isDeepStrictEqual } from 'node:util';
import type { Capability, Captured, CaptureLevel, Step, ToolStep, Trace } from '@agentci/trace';
import type { ObservedRun } from '../runners/runner.ts';

/**
 * Merges the trace of an agent with the calls that the capture observed. The answer comes from the
 * agent. Calls that only the agent's recording mentions are kept too, so no evidence is lost.
 */
export function mergeTraces(given: Trace, { trace: seen, warnings }: ObservedRun): Trace {
  if (seen === undefined) return { ...given, warnings: [...given.warnings, ...warnings] };
  const { final, reported, resources } = given;
  // Keeps the answer of the agent and the time of the runner. The last words of a model are not the
  // answer, and the times of its calls are not the duration.
  const { final: _, startedAt: __, endedAt: ___, error: ____, ...did } = seen;
  return {
    ...did,
    id: given.id,
    steps: mergedSteps(given.steps, seen.steps),
    task: given.task ?? did.task,
    status: given.status,
    error: given.error,
    final,
    reported: reported ?? did.reported,
    resources: resources ?? did.resources,
    agents: seen.agents.length > 0 ? seen.agents : given.agents,
    meta: { ...seen.meta, ...given.meta },
    captured: { ...better(seen.captured, given.captured), final: given.captured.final },
    warnings: [...given.warnings, ...seen.warnings, ...warnings],
  };
}

/**
 * Steps that only the agent recorded keep their position: before the next observed call, otherwise
 * at the end.
 */
function mergedSteps(given: readonly Step[], seen: readonly Step[]): Step[] {
  const left = seen.filter((step): step is ToolStep => step.kind === 'tool');
  const before = new Map<Step, Step[]>();
  let waiting: Step[] = [];
  let added = 0;
  for (const step of given) {
    if (step.kind === 'llm') continue;
    const at = step.kind === 'tool' ? left.findIndex((other) => isOneCall(step, other)) : -1;
    if (at < 0) {
      const { parent: _, ...own } = step;
      waiting.push({ ...own, id: `a${++added}` } as Step);
      continue;
    }
    const [match] = left.splice(at, 1);
    before.set(match!, waiting);
    waiting = [];
  }
  return [...seen.flatMap((step) => [...(before.get(step) ?? []), step]), ...waiting].map(
    (step, i) => ({ ...step, seq: i + 1 }),
  );
}

const isOneCall = (a: ToolStep, b: ToolStep): boolean =>
  a.callId !== undefined && b.callId !== undefined
    ? a.callId === b.callId
    : a.name === b.name &&
      (a.args === undefined || b.args === undefined || isDeepStrictEqual(a.args, b.args));

/** The capture decides about calls. The agent may know more about the rest. */
const DECIDED: ReadonlySet<Capability> = new Set<Capability>([
  'toolCalls',
  'toolArgs',
  'toolResults',
  'toolErrors',
  'llmCalls',
  'prompts',
]);
const RANK: Readonly<Record<CaptureLevel, number>> = { none: 0, partial: 1, full: 2 };

function better(seen: Captured, given: Captured): Captured {
  const captured = { ...seen };
  for (const key of Object.keys(given) as Capability[])
    if (!DECIDED.has(key) && RANK[given[key]] > RANK[seen[key]]) captured[key] = given[key];
  return captured;
}

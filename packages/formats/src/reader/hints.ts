import type { ToolStep, Trace } from '@agentci/trace';
import { isFields, meantNames, splitToolName } from '@agentci/trace';
import type { AdapterItem, RawRecord } from '../adapter.ts';
import { undecorated } from '../build/span-name.ts';
import { HintScan } from './hint-scan.ts';

/**
 * A final check: finds recordings that name an executed tool without a matching call in the traces.
 * Formats add places for calls faster than readers follow, and unknown data must not look like "no
 * calls".
 */
export function withHints(
  items: readonly AdapterItem[],
  records: readonly RawRecord[],
): readonly AdapterItem[] {
  if (!items.some((item) => item.ok && item.trace.captured.toolCalls === 'full')) return items;
  const given = items.map((item) =>
    item.ok ? { ok: true as const, trace: withoutSilentAgents(item.trace) } : item,
  );
  const scan = new HintScan();
  for (const { value } of records) scan.record(value);
  if (scan.isQuiet) return given;
  const traces = given.flatMap((item) => (item.ok ? [item.trace] : []));
  const missing = missingIn(scan, traces);
  return missing === undefined
    ? given
    : given.map((item) => (item.ok ? { ok: true, trace: lowered(item.trace, missing) } : item));
}

/** A sub-agent that was started and of which nothing is recorded may have called anything. */
function withoutSilentAgents(trace: Trace): Trace {
  const parents = new Set(trace.steps.map(({ parent }) => parent));
  const isStarted = (step: Trace['steps'][number]): step is ToolStep =>
    step.kind === 'tool' &&
    SPAWNS.test(step.name) &&
    /^(?:claude-code|codex)/.test(trace.source.format);
  const silent = trace.steps.filter(isStarted).find(({ id }) => !parents.has(id));
  if (silent === undefined) return trace;
  return lowered(trace, `a sub-agent started by ${JSON.stringify(silent.name)}`);
}

/** Tools of coding agents that start another agent. */
const SPAWNS = /^(?:Task|Agent|spawn_agent)$/;

function lowered(trace: Trace, hint: string): Trace {
  if (trace.captured.toolCalls !== 'full') return trace;
  const message = `the recording mentions ${hint}, which is not among the calls that were read: calls may be missing`;
  return {
    ...trace,
    captured: { ...trace.captured, toolCalls: 'partial' },
    warnings: [...trace.warnings, { code: 'CALLS_HINTED', message }],
  };
}

/** The first hint that no call of the traces explains. */
function missingIn(scan: HintScan, traces: readonly Trace[]): string | undefined {
  const calls = traces.flatMap(({ steps }) =>
    steps.filter((step): step is ToolStep => step.kind === 'tool'),
  );
  const known = new Set(calls.flatMap((call) => meantNames(call).map(key)));
  for (const trace of traces) {
    for (const { name } of trace.agents) known.add(key(name));
    for (const step of trace.steps)
      if (step.kind === 'handoff') known.add(key(step.to)).add(key(`transfer_to_${step.to}`));
    for (const step of trace.steps) {
      if (step.kind === 'retrieval') known.add('retriever');
      // Tools that the user's side ran are events, not calls of the agent.
      if (
        step.kind === 'event' &&
        /^user\./.test(step.name) &&
        isFields(step.data) &&
        typeof step.data.name === 'string'
      )
        known.add(key(step.data.name));
    }
  }
  if (calls.some(({ by }) => by === 'provider')) for (const name of SERVED_ALIASES) known.add(name);
  const lost = [...scan.names].find((name) => !known.has(key(name)));
  if (lost !== undefined) return `the tool ${JSON.stringify(lost.slice(0, 60))}`;
  const shown = new Set(calls.map(({ callId }) => callId));
  const call =
    [...scan.callIds].find((id) => !shown.has(id) && !scan.ids.has(id)) ??
    [...scan.ranIds].find((id) => !shown.has(id));
  if (call !== undefined) return `the call ${JSON.stringify(call.slice(0, 60))}`;
  if (scan.results > calls.filter(({ result }) => result === undefined).length)
    return 'the result of a tool';
  if (scan.counted > calls.length) return `${scan.counted} tool calls`;
  const replies = traces.reduce(
    (sum, { steps }) => sum + steps.filter(({ kind }) => kind === 'llm').length,
    0,
  );
  if (scan.rounds > replies) return `${scan.rounds} replies of the model`;
  if (scan.absentReply !== undefined)
    return `the message ${JSON.stringify(scan.absentReply.slice(0, 60))}`;
  if (scan.lost !== undefined) return `${JSON.stringify(scan.lost)}: parts were taken out or lost`;
  const isAnyShown =
    calls.length > 0 || traces.some(({ steps }) => steps.some(({ kind }) => kind === 'handoff'));
  if (scan.wanted !== undefined && !isAnyShown) return scan.wanted;
  const isServed = calls.some(({ by, name }) => by === 'provider' || SERVED.test(name));
  return scan.activity !== undefined && !isServed ? JSON.stringify(scan.activity) : undefined;
}

/** Names differ by case and by how words are joined. */
const key = (name: string): string =>
  splitToolName(undecorated(name))
    .name.toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

/** Providers use several names for the code tool in one reply. */
const SERVED_ALIASES = ['codeexecution', 'codeinterpreter'];

/** Common names of provider-side tools. */
const SERVED =
  /search|fetch|code|python|bash|shell|url|browser|grounding|computer|image|mcp|retriev/i;

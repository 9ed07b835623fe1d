import {
  driftWarnings,
  type Failure,
  type HandoffStep,
  parallelCalls,
  placeId,
  type Step,
  splitToolName,
  type ToolStep,
  TRACE_LIMITS,
  TRACE_SCHEMA,
  type Trace,
  TraceError,
} from '@agentci/trace';
import type { AdapterItem, RawRecord } from '../adapter.ts';
import { problemWith } from '../problem.ts';
import { agentOf, agentsOf } from './agents.ts';
import { findFinal, findTask, plainMessage } from './answer.ts';
import { UNNAMED } from './blocks.ts';
import { capturedBy } from './capture.ts';
import { joinClaims } from './claims.ts';
import type { Call, Draft, DraftAgent, DraftStep, DraftTool } from './draft.ts';
import { endBeside } from './end-beside.ts';
import { foldDuplicates } from './fold.ts';
import { gapsIn, gapWarnings, isCutOff } from './gaps.ts';
import { withHandoffs } from './handoffs.ts';
import { inOrder } from './order.ts';
import { handoffTarget, undecorated } from './span-name.ts';
import {
  isAgent,
  isHandoff,
  isKept,
  isLlm,
  isTool,
  keptParent,
  linkSteps,
  type Node,
} from './tree.ts';
import { reportedBy, withHelpers } from './usage.ts';
import { withUserTurns } from './user-turns.ts';
import { isWithheld, isWithheldTurn } from './withheld.ts';

/**
 * Builds the trace of one run from an adapter's findings: links steps, folds duplicates, joins
 * calls that messages mention, orders everything, and finds agents, handoffs, answer, totals and
 * capture levels.
 */
export function buildTrace(draft: Draft, record: RawRecord): Trace {
  const least = leastSteps(draft);
  if (least > TRACE_LIMITS.steps) throw tooMany(least);
  const linked = linkSteps(draft.steps.flatMap(withoutParallel).map(withBareName));
  foldDuplicates(linked);
  const joined = inOrder(
    joinClaims(inOrder(linked), (draft.turns ?? []).map(withBareCalls)),
    draft,
  );
  const nodes = withHandoffs(joined, {
    agents: agentsOf(joined, draft.agents ?? []),
    speakersHandOff: draft.speakersHandOff ?? false,
  });
  const kept = nodes.filter(isKept);
  if (kept.length > TRACE_LIMITS.steps) throw tooMany(kept.length);
  const steps = numbered(kept);
  const final = draft.final === undefined ? findFinal(nodes) : unlessWithheld(draft.final);
  const error =
    draft.error ?? (draft.status === undefined ? failureOf(nodes, final !== undefined) : undefined);
  const reported = reportedBy(draft.reported, nodes);
  const agents = agentsOf(nodes, draft.agents ?? []);
  const isWhole = kept.some((node) => isAgent(node) && node.draft.isWhole === true);
  const gaps = gapsIn(nodes, draft, reported);
  const warnings = [
    ...(draft.warnings ?? []),
    ...gapWarnings(gaps),
    ...(gaps.some(({ gap }) => gap === 'moreUsed') ? [] : driftWarnings({ steps, reported })),
    ...speakerWarnings(steps),
  ];
  const { file, line } = record;
  const trace: Trace = {
    schema: TRACE_SCHEMA,
    // An empty id is none.
    id: draft.id || placeId(record),
    source: { ...draft.source, file, line },
    task: findTask(draft, nodes),
    ...span(draft, steps),
    error,
    final,
    tools: draft.tools === undefined ? undefined : [...draft.tools],
    reported: withHelpers(reported, draft.helpers),
    outcomes: draft.outcomes,
    resources: draft.resources,
    status: draft.status ?? statusOf(error, kept, final),
    agents,
    steps,
    meta: draft.meta ?? {},
    captured: capturedBy(
      { records: draft.records, empty: draft.empty ?? [], gaps, isWhole },
      { steps, agents, final, reported },
    ),
    warnings,
  };
  return withUserTurns(trace, { left: draft.turns, ending: draft.ending });
}

/** Runs an adapter over the records of one run. A refusal becomes a located problem. */
export function tryBuild(record: RawRecord, draftOf: () => Draft | undefined): AdapterItem[] {
  try {
    const draft = draftOf();
    if (draft === undefined) return [];
    const isOver = draft.status !== undefined || draft.error !== undefined;
    const end = isOver ? undefined : endBeside(record.value);
    const whole = end === undefined ? draft : { ...draft, ...end };
    return [{ ok: true, trace: buildTrace(whole, record) }];
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    return [problemWith(record, error)];
  }
}

/** Minimum number of steps: a call requested by a reply counts unless a separate step shows it. */
function leastSteps({ steps }: Draft): number {
  let calls = 0;
  let tools = 0;
  let others = 0;
  for (const step of steps) {
    if (step.kind === 'tool') tools++;
    else if (step.kind !== 'span') others++;
    if (step.kind === 'llm') calls += step.output?.calls?.length ?? 0;
  }
  return Math.max(steps.length, others + Math.max(tools, calls));
}

const tooMany = (count: number): TraceError =>
  new TraceError({
    code: 'TRACE_TOO_LARGE',
    message: `the run has ${count} steps, at most ${TRACE_LIMITS.steps} are read`,
    path: '',
  });

/**
 * Replaces a wrapper call by its inner calls. The first one keeps its ids, so that its result
 * matches.
 */
function withoutParallel(draft: DraftStep): readonly DraftStep[] {
  if (draft.kind !== 'tool') return [draft];
  const calls = parallelCalls(draft.name, draft.args);
  if (calls === undefined) return [draft];
  const { key, callId, result, ...rest } = draft;
  return calls.map((call, i) => ({
    ...rest,
    ...call,
    ...(i === 0 ? { key, callId, result } : {}),
  }));
}

/**
 * Splits off the server and keeps the recorded name, in spans and messages alike, so that both
 * refer to one call.
 */
function withBareName(draft: DraftStep): DraftStep {
  if (draft.kind === 'tool') {
    const isSpan = draft.evidence === undefined || draft.evidence.includes('span');
    const to = isSpan ? handoffTarget(draft.name) : undefined;
    if (to !== undefined) return handoffOf(draft, to);
    let name: string;
    if (draft.name === '') name = UNNAMED;
    else if (isSpan) name = undecorated(draft.name);
    else name = draft.name;
    const split = splitToolName(name);
    if (isWithheld(draft.result)) return withBareName({ ...draft, result: undefined });
    if (split.name === draft.name) return draft;
    const server = draft.server ?? split.server;
    const by = draft.by ?? (split.server === undefined ? undefined : ('mcp' as const));
    return { ...draft, name: split.name, rawName: draft.name, server, by };
  }
  if (draft.kind !== 'llm' && draft.kind !== 'agent') return draft;
  const { input, output } = draft;
  if (output !== undefined && isWithheldTurn(output)) {
    const { output: _, ...rest } = draft;
    return withBareName(rest);
  }
  return {
    ...draft,
    input: input?.map(withBareCalls),
    output: output && withBareCalls(output),
  };
}

/** A span of a tool that is called after the agent it hands over to: the call itself is in the messages. */
function handoffOf(
  { key, parent, agent, t0, t1, status, error }: DraftTool,
  to: string,
): DraftStep {
  return {
    kind: 'handoff',
    to,
    mode: 'pass',
    key,
    parent,
    agent,
    t0,
    t1,
    status,
    error,
  };
}

function withBareCalls<T extends { calls?: DraftCalls; name?: string; role: string }>(turn: T): T {
  const name =
    turn.role === 'tool' && turn.name !== undefined ? splitToolName(turn.name).name : turn.name;
  if (turn.calls === undefined) return name === turn.name ? turn : { ...turn, name };
  const calls = turn.calls.flatMap(unwrapParallel).map((call) => {
    const split = splitToolName(call.name === '' ? UNNAMED : call.name);
    if (split.name === call.name) return call;
    const server = call.server ?? split.server;
    const by = call.by ?? (split.server === undefined ? undefined : ('mcp' as const));
    return { ...call, name: split.name, rawName: call.name, server, by };
  });
  return { ...turn, name: name ?? turn.name, calls };
}

const unwrapParallel = (call: Call): readonly Call[] =>
  parallelCalls(call.name, call.args)?.map((inner, i) =>
    i === 0 ? { ...call, ...inner } : inner,
  ) ?? [call];

type DraftCalls = NonNullable<NonNullable<Draft['turns']>[number]['calls']>;

function numbered(nodes: readonly Node[]): Step[] {
  const ids = new Map(nodes.map((node, i) => [node, `s${i + 1}`]));
  let turn = 0;
  const turns = new Map<Node, number>();
  return nodes.map((node, i) => {
    if (node.draft.kind === 'llm') turns.set(node, ++turn);
    const parent = keptParent(node);
    const base = {
      id: `s${i + 1}`,
      seq: i + 1,
      parent: parent === undefined ? undefined : ids.get(parent),
      agent: agentOf(node),
      turn:
        (node.requester === undefined ? undefined : turns.get(node.requester)) ??
        (turn > 0 ? turn : undefined),
    };
    return stepOf(node, base, ids);
  });
}

type Base = Pick<Step, 'id' | 'seq' | 'parent' | 'agent' | 'turn'>;

function stepOf(node: Node, base: Base, ids: ReadonlyMap<Node, string>): Step {
  const { draft } = node;
  const { key } = draft;
  const raw = draft.raw ?? (key === undefined ? undefined : { ref: key });
  const own = draft.kind === 'agent' ? ownOfAgent(draft) : ownOf(draft);
  const step: Record<string, unknown> & Base = { ...base, ...own };
  step.status = draft.status ?? (draft.error === undefined ? 'unknown' : 'error');
  if (raw !== undefined) step.raw = raw;
  const requester = node.requester === undefined ? undefined : ids.get(node.requester);
  if (isTool(node)) {
    const { by, evidence } = node.draft;
    return {
      ...step,
      by: by ?? 'client',
      evidence: evidence ?? ['span'],
      requestedBy: requester,
    } as unknown as ToolStep;
  }
  if (isHandoff(node)) {
    const from = node.draft.from ?? base.agent ?? 'unknown';
    const via = requester ?? viaOf(node.draft.via, ids);
    const { via: _, ...plain } = step as unknown as HandoffStep;
    return { ...plain, from, mode: node.draft.mode ?? 'unknown', via };
  }
  if (isLlm(node) || isAgent(node)) {
    const { input, output } = node.draft;
    if (input !== undefined) step.input = input.map(plainMessage);
    if (output !== undefined) step.output = plainMessage(output);
  }
  return step as unknown as Step;
}

/** A draft without the fields that a step does not have. */
function ownOf(draft: DraftStep): object {
  const {
    key: _,
    parent: __,
    agent: ___,
    gap: ____,
    isWhole: _____,
    isRequest: ______,
    sequence: _______,
    ...own
  } = draft as Mixed;
  return own;
}

type Mixed = DraftStep & Readonly<Partial<Record<'gap' | 'isWhole' | 'isRequest', unknown>>>;

/** An agent's usage is that of its calls. */
function ownOfAgent(draft: DraftAgent): object {
  const { usage: _, cost: __, ...rest } = draft;
  return ownOf(rest);
}

function viaOf(key: string | undefined, ids: ReadonlyMap<Node, string>): string | undefined {
  if (key === undefined) return undefined;
  for (const [node, id] of ids)
    if (node.draft.key === key || ('callId' in node.draft && node.draft.callId === key)) return id;
  return undefined;
}

/** A run failed when its outermost agent did, or when its last call of a model did and nothing was answered. */
function failureOf(nodes: readonly Node[], isAnswered: boolean): Failure | undefined {
  const outer = nodes.findLast(
    (node) => isAgent(node) && isKept(node) && node.above.agent === undefined,
  );
  const last = isAnswered ? undefined : nodes.findLast((node) => isLlm(node) && isKept(node));
  const failed = [outer, last].find((node) => node?.draft.status === 'error');
  return failed === undefined ? undefined : (failed.draft.error ?? {});
}

/** From the source's own words, else the first start and the last end of the steps. */
function span(draft: Draft, steps: readonly Step[]): Pick<Trace, 'startedAt' | 'endedAt'> {
  let { startedAt, endedAt } = draft;
  if (startedAt === undefined || endedAt === undefined) {
    let first = Number.POSITIVE_INFINITY;
    let last = Number.NEGATIVE_INFINITY;
    for (const { t0, t1, timing } of steps) {
      if (timing === 'estimated') continue;
      if (t0 !== undefined && t0 < first) first = t0;
      if (t1 !== undefined && t1 > last) last = t1;
    }
    if (Number.isFinite(first)) startedAt ??= first;
    if (Number.isFinite(last)) endedAt ??= last;
  }
  return { startedAt, endedAt };
}

function speakerWarnings(steps: readonly Step[]): Trace['warnings'] {
  return steps.flatMap((step) =>
    step.kind === 'handoff' && step.mode === 'unknown'
      ? [
          {
            code: 'HANDOFF_GUESSED',
            message: `${step.to} speaks after ${step.from}; no handoff is recorded`,
            step: step.id,
          },
        ]
      : [],
  );
}

const unlessWithheld = (final: NonNullable<Draft['final']>): Draft['final'] =>
  isWithheld(final.text) ? undefined : final;

function statusOf(
  error: Draft['error'],
  kept: Parameters<typeof isCutOff>[0],
  final: Draft['final'],
): Trace['status'] {
  if (error !== undefined) return 'error';
  if (isCutOff(kept)) return 'incomplete';
  return final === undefined ? 'unknown' : 'ok';
}

import { defined } from '@agentci/lib/data';
import type {
  Capability,
  Captured,
  CaptureLevel,
  LlmStep,
  Step,
  ToolStep,
  Trace,
} from '@agentci/trace';
import { captureLevel, nothingCaptured } from '@agentci/trace';
import { UNNAMED } from './blocks.ts';
import type { GapNote } from './draft.ts';
import { GAPS } from './gap-kinds.ts';

/** Findings of an adapter and the builder besides the steps. */
export interface Evidence {
  /** Capabilities that the format can record. */
  readonly records: Partial<Captured>;
  /** Lists that are there and empty. */
  readonly empty: readonly Capability[];
  /** Signs that parts are missing. */
  readonly gaps: readonly GapNote[];
  /** Whether an agent's record lists its whole conversation. */
  readonly isWhole: boolean;
}

/**
 * Capture levels of a recording. `full` needs positive evidence in this recording: a step of its
 * kind, a reply with content, an explicit empty list. Silence is `none`; a gap is `partial`.
 */
export function capturedBy(
  evidence: Evidence,
  trace: Pick<Trace, 'steps' | 'agents' | 'final' | 'reported'>,
): Captured {
  const { steps, agents, final, reported } = trace;
  const tools = steps.filter((step): step is ToolStep => step.kind === 'tool');
  const llms = steps.filter((step): step is LlmStep => step.kind === 'llm');
  const place = { ...nothingCaptured(), ...defined(evidence.records) };
  const hidden = new Set<Capability>(evidence.gaps.flatMap(({ gap }) => [...GAPS[gap].hides]));
  const shown = (
    capability: Capability,
    level: CaptureLevel,
    count: number,
    isProven: boolean,
  ): CaptureLevel => {
    if (count === 0 && !isProven) return 'none';
    if (level === 'none') return count === 0 ? 'none' : 'partial';
    return hidden.has(capability) ? 'partial' : level;
  };
  const count = (kind: Step['kind']): number =>
    steps.reduce((sum, step) => sum + (step.kind === kind ? 1 : 0), 0);
  const isEmpty = (capability: Capability): boolean => evidence.empty.includes(capability);
  const isProven = isEmpty('toolCalls') || evidence.isWhole || llms.some(isReply);
  const seen = isBlind(tools, llms)
    ? limited(place.toolCalls, tools.length === 0 ? 'none' : 'partial')
    : shown('toolCalls', place.toolCalls, tools.length, isProven);
  // An unnamed call may have been a forbidden one.
  const toolCalls = tools.some(({ name }) => name === UNNAMED) ? limited(seen, 'partial') : seen;
  const llmCalls = shown('llmCalls', place.llmCalls, llms.length, isEmpty('llmCalls'));
  const isActive = tools.length > 0 || isProven;
  return {
    toolCalls,
    toolArgs: limited(share(tools, hasArgs, place.toolArgs), toolCalls),
    toolResults: limited(share(tools, hasOutcome, place.toolResults), toolCalls),
    toolErrors: limited(share(tools, hasStatus, place.toolErrors), toolCalls),
    llmCalls,
    prompts: share(llms, ({ input }: LlmStep) => input !== undefined, 'none'),
    usage:
      reported?.usage === undefined ? limited(share(llms, hasUsage, 'none'), llmCalls) : 'full',
    cost: reported?.cost === undefined ? limited(share(llms, hasCost, 'none'), llmCalls) : 'full',
    timing: reported?.durationMs === undefined ? timing(steps) : 'full',
    agents: agents.length > 0 ? 'full' : place.agents,
    handoffs: handoffs(steps, {
      level: agents.length > 0 ? (evidence.records.handoffs ?? 'full') : place.handoffs,
      isProven: isEmpty('handoffs') || isActive,
      isHidden: hidden.has('handoffs'),
    }),
    messages: shown('messages', place.messages, count('message'), isActive || isEmpty('messages')),
    retrieval: shown(
      'retrieval',
      place.retrieval,
      count('retrieval'),
      isActive || isEmpty('retrieval'),
    ),
    final: final === undefined ? 'none' : 'full',
  };
}

const hasArgs = ({ args }: ToolStep): boolean => args !== undefined;
const hasStatus = ({ status }: ToolStep): boolean => status !== 'unknown';
const hasUsage = ({ usage }: LlmStep): boolean => usage !== undefined;
const hasCost = ({ cost }: LlmStep): boolean => cost !== undefined;

/** Share of steps with the field. Without steps nothing is missing, if the format can record it. */
const share = (
  list: readonly Step[],
  has: (step: never) => boolean,
  level: CaptureLevel,
): CaptureLevel =>
  list.length === 0
    ? level
    : captureLevel(list.filter(has as (step: Step) => boolean).length, list.length);

const limited = (level: CaptureLevel, limit: CaptureLevel): CaptureLevel => {
  if (limit === 'none') return 'none';
  if (level === 'full') return limit;
  return level;
};

/** A reply whose content was recorded shows by it that it asked for nothing else. */
const isReply = ({ output }: LlmStep): boolean => output !== undefined;

/**
 * Whether calls are unknown because replies lack their content and no call was recorded as
 * executed.
 */
function isBlind(tools: readonly ToolStep[], llms: readonly LlmStep[]): boolean {
  const hasSpans = tools.some(({ evidence }) => evidence.some((kind) => kind !== 'message'));
  return !hasSpans && llms.some(({ output }) => output === undefined);
}

/** A failed call often has no result, so its error is the outcome. */
const hasOutcome = ({ result, resultParts, error }: ToolStep): boolean =>
  result !== undefined || resultParts !== undefined || error !== undefined;

/** Times that were worked out from others tell an order, not a duration. */
function timing(steps: readonly Step[]): CaptureLevel {
  const ran = steps.filter(
    (step) => step.kind === 'llm' || step.kind === 'tool' || step.kind === 'agent',
  );
  const timed = ran.filter(
    ({ t0, t1, timing }) => t0 !== undefined && t1 !== undefined && timing !== 'estimated',
  );
  return timed.length === 0 ? 'none' : captureLevel(timed.length, ran.length);
}

/** Handoffs read out of a change of speaker may not be all, nor all be handoffs. */
function handoffs(
  steps: readonly Step[],
  { level, isProven, isHidden }: { level: CaptureLevel; isProven: boolean; isHidden: boolean },
): CaptureLevel {
  const all = steps.filter((step) => step.kind === 'handoff');
  if (all.length === 0) {
    if (!isProven) return 'none';
    if (isHidden) return limited(level, 'partial');
    return level;
  }
  const isUnsure = isHidden || all.some((step) => step.mode === 'unknown');
  return isUnsure || level === 'none' ? 'partial' : level;
}

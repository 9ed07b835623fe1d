import { captureLevel, nothingCaptured } from '../../trace/captured.ts';
import type { Captured, CaptureLevel, LlmStep, Step, ToolStep, Trace } from '../../trace/model.ts';
import { UNNAMED } from './blocks.ts';

/**
 * What the recording holds: what the format records by its nature, lowered where steps lack the field and raised where
 * they have it. Of no calls, nothing is missing: then the format's own word stands.
 */
export function capturedBy(
  records: Partial<Captured>,
  trace: Pick<Trace, 'steps' | 'agents' | 'final' | 'reported'>,
): Captured {
  const { steps, agents, final, reported } = trace;
  const tools = steps.filter((step): step is ToolStep => step.kind === 'tool');
  const llms = steps.filter((step): step is LlmStep => step.kind === 'llm');
  const word = { ...nothingCaptured(), ...records };
  const share = (list: readonly Step[], has: (step: never) => boolean, level: CaptureLevel): CaptureLevel =>
    list.length === 0 ? level : captureLevel(list.filter(has as (step: Step) => boolean).length, list.length);
  const lower = (level: CaptureLevel, limit: CaptureLevel): CaptureLevel =>
    limit === 'none' ? 'none' : level === 'full' ? limit : level;
  const found = (kind: Step['kind'], level: CaptureLevel): CaptureLevel =>
    level === 'none' && steps.some((step) => step.kind === kind) ? 'partial' : level;
  const seen = isBlind(tools, llms) ? (tools.length === 0 ? 'none' : 'partial') : found('tool', word.toolCalls);
  // Of a call without a name nobody can say that it was none of the forbidden ones.
  const toolCalls = tools.some(({ name }) => name === UNNAMED) ? lower(seen, 'partial') : seen;
  const llmCalls = found('llm', word.llmCalls);
  return {
    toolCalls,
    toolArgs: lower(
      share(tools, ({ args }: ToolStep) => args !== undefined, word.toolArgs),
      toolCalls,
    ),
    toolResults: lower(share(tools, hasOutcome, word.toolResults), toolCalls),
    toolErrors: lower(
      share(tools, ({ status }: ToolStep) => status !== 'unknown', word.toolErrors),
      toolCalls,
    ),
    llmCalls,
    prompts: share(llms, ({ input }: LlmStep) => input !== undefined, word.prompts),
    usage:
      reported?.usage === undefined
        ? lower(
            share(llms, ({ usage }: LlmStep) => usage !== undefined, 'none'),
            llmCalls,
          )
        : 'full',
    cost:
      reported?.cost === undefined
        ? lower(
            share(llms, ({ cost }: LlmStep) => cost !== undefined, 'none'),
            llmCalls,
          )
        : 'full',
    timing: reported?.durationMs === undefined ? timing(steps) : 'full',
    agents: agents.length > 0 ? 'full' : word.agents,
    handoffs: handoffs(steps, agents.length > 0 ? (records.handoffs ?? 'full') : word.handoffs),
    messages: found('message', word.messages),
    retrieval: found('retrieval', word.retrieval),
    final: final === undefined ? 'none' : 'full',
  };
}

/**
 * Where replies were recorded without their content and no call was recorded as something that ran, nobody can tell what
 * was called; and a reply that ended to call tools, none of which is there, says that they are missing.
 */
function isBlind(tools: readonly ToolStep[], llms: readonly LlmStep[]): boolean {
  const hasSpans = tools.some(({ evidence }) => evidence.some((kind) => kind !== 'message'));
  if (!hasSpans && llms.some(({ output }) => output === undefined)) return true;
  const turns = new Set(tools.map(({ turn }) => turn));
  return llms.some(
    ({ finish, turn, output }) => finish === 'tool_calls' && output?.calls === undefined && !turns.has(turn),
  );
}

/** A failed call often has no result; its error is the outcome. */
const hasOutcome = ({ result, resultParts, error }: ToolStep): boolean =>
  result !== undefined || resultParts !== undefined || error !== undefined;

/** Times that were worked out from others tell an order, not a duration. */
function timing(steps: readonly Step[]): CaptureLevel {
  const ran = steps.filter((step) => step.kind === 'llm' || step.kind === 'tool' || step.kind === 'agent');
  const timed = ran.filter(({ t0, t1, timing }) => t0 !== undefined && t1 !== undefined && timing !== 'estimated');
  return timed.length === 0 ? 'none' : captureLevel(timed.length, ran.length);
}

/** Handoffs read out of a change of speaker may not be all, nor all be handoffs. */
function handoffs(steps: readonly Step[], level: CaptureLevel): CaptureLevel {
  const all = steps.filter((step) => step.kind === 'handoff');
  if (all.length === 0) return level;
  return all.some((step) => step.mode === 'unknown') ? 'partial' : level === 'none' ? 'partial' : level;
}

import { present } from '@agentci/lib/data';
import type { Trace, Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import { plainMessage } from '../../build/answer.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Draft, DraftLlm, DraftStep } from '../../build/draft.ts';
import { turnOfText } from '../../build/messages.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { itemTurns } from '../../build/response-items.ts';
import { usageOf } from '../../build/token-usage.ts';
import { fields, label, objects, pick, text } from '../../build/values.ts';

export const isRunItem = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.type === 'string' &&
  value.type.endsWith('_item') &&
  (isFields(value.rawItem) || isFields(value.raw_item));

const nameOf = (agent: unknown): string | undefined => label(fields(agent).name);

/** The items of a run as steps: neighbors of one agent are one reply, and handoffs are explicit. */
export function runItems(
  items: readonly Fields[],
  before: Draft['turns'] = [],
): Pick<Draft, 'steps' | 'turns'> {
  const dialogue = new Dialogue();
  dialogue.hear(...(before ?? []));
  let waiting: unknown[] = [];
  let speaker: string | undefined;
  const flush = (): void => {
    for (const turn of itemTurns(waiting)) {
      if (turn.role === 'assistant') dialogue.reply(turn, { agent: speaker });
      else dialogue.hear(turn);
    }
    waiting = [];
  };
  for (const item of items) {
    const raw = fields(pick(item, 'rawItem', 'raw_item'));
    const source = nameOf(pick(item, 'sourceAgent', 'source_agent'));
    const target = nameOf(pick(item, 'targetAgent', 'target_agent'));
    const agent = nameOf(item.agent) ?? source;
    if (agent !== speaker) flush();
    speaker = agent;
    waiting.push(raw);
    if (item.type !== 'handoff_output_item' || target === undefined) continue;
    flush();
    const via = label(pick(raw, 'callId', 'call_id'));
    dialogue.add({
      kind: 'handoff',
      to: target,
      mode: 'pass',
      status: 'ok',
      from: source,
      via,
    });
  }
  flush();
  return { steps: dialogue.steps, turns: dialogue.turns };
}

/** The state of a run (`result.state`, `RunState.to_json`). */
export function stateDraft(state: Fields, format: string): Draft {
  const asked = pick(state, 'originalInput', 'original_input');
  const before =
    typeof asked === 'string' ? [turnOfText('user', asked)] : itemTurns(objects(asked));
  const items = objects(pick(state, 'generatedItems', 'generated_items'));
  const { steps, turns } = runItems(items, before);
  const responses = objects(pick(state, 'modelResponses', 'model_responses'));
  const current = fields(pick(state, 'currentStep', 'current_step'));
  const agent = nameOf(pick(state, 'currentAgent', 'current_agent'));
  const usage = countedUsage(fields(state.context).usage);
  const final = pick(current, 'output') ?? fields(current.data).output;
  const input = before.filter(({ role }) => role === 'user' || role === 'system').map(plainMessage);
  return {
    source: { format, version: label(state.$schemaVersion) ?? '' },
    steps: [...guardrails(state), ...withUsage(steps, responses)],
    turns,
    task: { input },
    records: { ...MESSAGES_RECORD, agents: 'full', handoffs: 'full' },
    counts: { llmCalls: responses.length },
    gaps: hasOtherCalls(responses, items)
      ? [{ gap: 'absentChildren', detail: 'calls of a reply' }]
      : [],
    empty: present([
      ...(isEmptyList(pick(state, 'generatedItems', 'generated_items'))
        ? (['toolCalls', 'handoffs'] as const)
        : []),
      isEmptyList(pick(state, 'modelResponses', 'model_responses'))
        ? ('llmCalls' as const)
        : undefined,
    ]),
    agents: agent === undefined ? undefined : [{ id: agent, name: agent }],
    reported: usage === undefined ? undefined : { usage, llmCalls: responses.length },
    final:
      current.type === 'next_step_final_output' && final !== undefined
        ? answerOf(final, agent)
        : undefined,
    status: current.type === 'next_step_interruption' ? ('incomplete' as const) : undefined,
  };
}

/** Whether the replies request calls that are not among the items. */
function hasOtherCalls(responses: readonly Fields[], items: readonly Fields[]): boolean {
  const raw = items.map((item) => pick(item, 'rawItem', 'raw_item'));
  const held = new Set(itemTurns(raw).flatMap(({ calls }) => (calls ?? []).map(({ id }) => id)));
  const asked = responses.flatMap(({ output }) =>
    itemTurns(objects(output)).flatMap(({ calls }) => calls ?? []),
  );
  return asked.some(({ id }) => id !== undefined && !held.has(id));
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const answerOf = (value: unknown, agent: string | undefined): NonNullable<Trace['final']> => ({
  ...(typeof value === 'string' ? { text: text(value) ?? '' } : { data: value }),
  agent,
});

/** Counters that never counted a request are not a count of 0 tokens. */
function countedUsage(value: unknown): Usage | undefined {
  return fields(value).requests === 0 ? undefined : usageOf(value);
}

/**
 * Model calls are listed in order next to the items. If the counts agree, each reply gets its own.
 */
function withUsage(steps: readonly DraftStep[], responses: readonly Fields[]): DraftStep[] {
  const replies = steps.filter((step): step is DraftLlm => step.kind === 'llm');
  if (replies.length !== responses.length) return [...steps];
  const usages = new Map(
    replies.map((reply, i) => [reply as DraftStep, countedUsage(responses[i]!.usage)]),
  );
  return steps.map((step) => {
    const usage = usages.get(step);
    return usage === undefined ? step : ({ ...step, usage } as DraftStep);
  });
}

const STAGES = [
  { keys: ['inputGuardrailResults', 'input_guardrail_results'], stage: 'input' },
  { keys: ['outputGuardrailResults', 'output_guardrail_results'], stage: 'output' },
  { keys: ['toolInputGuardrailResults', 'tool_input_guardrail_results'], stage: 'tool' },
  { keys: ['toolOutputGuardrailResults', 'tool_output_guardrail_results'], stage: 'tool' },
] as const;

const guardrails = (state: Fields): DraftStep[] =>
  STAGES.flatMap(({ keys, stage }) =>
    objects(pick(state, ...keys)).map((result): DraftStep => {
      const output = fields(result.output);
      const name = label(fields(result.guardrail).name) ?? 'guardrail';
      const triggered = pick(output, 'tripwireTriggered', 'tripwire_triggered') === true;
      return { kind: 'guardrail', name, triggered, stage, status: 'ok' };
    }),
  );

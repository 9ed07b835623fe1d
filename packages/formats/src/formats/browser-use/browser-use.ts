import { hasValues } from '@agentci/lib/data';
import type { Step, Trace } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter } from '../../adapter.ts';
import { UNNAMED } from '../../build/blocks.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { Dialogue } from '../../build/dialogue.ts';
import type { Call, Draft, GapNote, Turn } from '../../build/draft.ts';
import { endOf } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import { amount, argumentsOf, fields, objects, pick, text, time } from '../../build/values.ts';

const FORMAT = 'browser-use';

/** The history of a browser-use agent: the model's actions in each step, and their results. */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'browser-use: saved agent history ({history: [{model_output, result, state}]})',
  unit: 'record',
  detect: (sample) => worst(sample, (value) => (isHistory(value) ? 0.97 : 0)),
  read: (records) =>
    records.flatMap((record) => tryBuild(record, () => draftOf(fields(record.value)))),
};

const isHistory = (value: unknown): boolean =>
  isFields(value) &&
  Array.isArray(value.history) &&
  value.history.length > 0 &&
  value.history.every(isStep);

/** The model's output (null without a reply) and the results. */
const isStep = (step: unknown): boolean =>
  isFields(step) &&
  Array.isArray(step.result) &&
  (isFields(step.model_output)
    ? Array.isArray(step.model_output.action)
    : step.model_output === null && ('state' in step || 'metadata' in step));

function draftOf(value: Fields): Draft {
  const steps = objects(value.history);
  const dialogue = new Dialogue();
  for (const [i, step] of steps.entries()) addStep(dialogue, step, i);
  const last = objects(steps.at(-1)?.result).at(-1) ?? {};
  const usage = fields(value.usage);
  const usd = amount(usage.total_cost);
  const tokens = {
    input: amount(usage.total_prompt_tokens),
    output: amount(usage.total_completion_tokens),
    cacheRead: amount(usage.total_prompt_cached_tokens),
    total: amount(usage.total_tokens),
  };
  const answer = last.is_done === true ? text(last.extracted_content) : undefined;
  const failure = text(last.error);
  return {
    source: { format: FORMAT },
    steps: dialogue.steps,
    turns: dialogue.turns,
    records: {
      toolCalls: 'full',
      toolArgs: 'full',
      toolResults: 'full',
      toolErrors: 'full',
      llmCalls: 'full',
    },
    gaps: missingSteps(steps),
    reported: {
      usage: hasValues(tokens) ? tokens : undefined,
      cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
    },
    outcomes: outcomesOf(last),
    final: answer === undefined ? undefined : { text: answer },
    ...(last.is_done === true
      ? {}
      : endOf(failure === undefined ? undefined : { message: failure }, true)),
  };
}

function addStep(dialogue: Dialogue, step: Fields, index: number): void {
  const results = objects(step.result);
  const { step_start_time, step_end_time, input_tokens } = fields(step.metadata);
  const t0 = time(step_start_time);
  const calls = isFields(step.model_output)
    ? objects(step.model_output.action).map((action, i) => callOf(action, `${index}.${i}`))
    : [];
  if (isFields(step.model_output)) {
    const sent = amount(input_tokens);
    dialogue.reply(
      { ...thoughtsOf(step.model_output), calls: calls.length === 0 ? undefined : calls },
      {
        status: 'ok',
        timing: 'estimated',
        t0,
        t1: time(step_end_time),
        usage: sent === undefined ? undefined : { input: sent },
      },
    );
  }
  for (const [i, call] of calls.entries()) dialogue.hear(resultOf(results[i], call.id!));
  // A step without a reply has one result, the reason. Surplus results belong to missing actions.
  const rest = results.slice(calls.length);
  if (isFields(step.model_output) || rest.length > 1)
    for (const [i, result] of rest.entries())
      dialogue.hear(resultOf(result, `${index}.${calls.length + i}`));
}

/** `{go_to_url: {url}}`: the key is the name. Actions not chosen may be present as null. */
function callOf(action: Fields, id: string): Call {
  const [name = UNNAMED] = Object.entries(action).flatMap(([key, value]) =>
    value === null ? [] : [key],
  );
  return { id, name, ...argumentsOf(action[name] ?? {}) };
}

function thoughtsOf(output: Fields): Turn {
  const state = isFields(output.current_state) ? output.current_state : output;
  const thoughts = ['thinking', 'evaluation_previous_goal', 'memory', 'next_goal'].flatMap(
    (key) => text(state[key]) ?? [],
  );
  const said = thoughts.filter((thought) => thought !== '').join('\n');
  return { role: 'assistant', parts: said === '' ? [] : [{ type: 'reasoning', text: said }] };
}

/** Actions after one that changed the page are skipped and have no result. */
function resultOf(result: Fields | undefined, callId: string): Turn {
  if (result === undefined) return { role: 'tool', parts: [], callId, status: 'cancelled' };
  const failure = text(result.error);
  const status: Step['status'] = failure === undefined ? 'ok' : 'error';
  return {
    role: 'tool',
    parts: [],
    callId,
    status,
    result:
      text(pick(result, 'extracted_content', 'long_term_memory')) ??
      (failure === undefined ? '' : undefined),
    error: failure === undefined ? undefined : { message: failure },
  };
}

/** Detects gaps in the step numbers. */
function missingSteps(steps: readonly Fields[]): GapNote[] {
  const numbers = steps.flatMap(({ metadata }) => amount(fields(metadata).step_number) ?? []);
  const isBroken = numbers.some((number, i) => i > 0 && number > numbers[i - 1]! + 1);
  // The first step is 1, or 2 if counted after the fact.
  const isShort = steps.some(({ model_output, state }) => {
    const { interacted_element } = fields(state);
    const actions = fields(model_output).action;
    // One entry per action, whether it touched an element or not.
    return (
      Array.isArray(interacted_element) &&
      Array.isArray(actions) &&
      interacted_element.length > actions.length
    );
  });
  const isMissing = isBroken || (numbers[0] ?? 0) > 2;
  return isMissing || isShort
    ? [{ gap: 'absentChildren', detail: isMissing ? 'steps' : 'actions' }]
    : [];
}

function outcomesOf(last: Fields): NonNullable<Trace['outcomes']> {
  const { verdict } = fields(last.judgement);
  return [
    { name: 'success', value: last.success },
    { name: 'judgement', value: verdict },
  ].flatMap(({ name, value }) => (typeof value === 'boolean' ? [{ name, value }] : []));
}

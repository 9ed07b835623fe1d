import { hasValues } from '@agentci/lib/data';
import type { Usage } from '@agentci/trace';
import { type Fields, isFields } from '@agentci/trace';
import type { Adapter } from '../../adapter.ts';
import { contentOf, outcomeOf } from '../../build/blocks.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Call, Draft, DraftStep, Turn } from '../../build/draft.ts';
import { worst } from '../../build/likeness.ts';
import {
  amount,
  argumentsOf,
  fields,
  label,
  objects,
  pick,
  text,
  time,
} from '../../build/values.ts';

const FORMAT = 'atif';

/**
 * The Agent Trajectory Interchange Format (Harbor): one document per run, with steps of system,
 * user and agent.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary:
    'ATIF trajectories (Harbor and the coding agents it runs); also written by "agentci import --as atif"',
  unit: 'record',
  detect: (sample) =>
    worst(sample, (value) =>
      isFields(value) &&
      typeof value.schema_version === 'string' &&
      value.schema_version.startsWith('ATIF-')
        ? 1
        : 0,
    ),
  read: (records) =>
    records.flatMap((record) => tryBuild(record, () => draftOf(fields(record.value)))),
};

function draftOf(document: Fields): Draft {
  const agent = fields(document.agent);
  const name = label(agent.name);
  const steps: DraftStep[] = [];
  let since: Turn[] = [];
  for (const step of objects(document.steps)) {
    const at = time(step.timestamp);
    if (step.source !== 'agent') {
      since.push({
        role: step.source === 'system' ? 'system' : 'user',
        parts: contentOf(step.message).parts,
        at,
      });
      continue;
    }
    steps.push(
      ...agentStep(step, {
        name,
        model: label(agent.model_name),
        input: since,
        isFirst: steps.length === 0,
      }),
    );
    since = resultsOf(step);
  }
  const final = fields(document.final_metrics);
  const usd = amount(final.total_cost_usd);
  const usage = usageOf(final, 'total_');
  const prompts = steps.length > 0;
  return {
    source: { format: FORMAT, version: label(document.schema_version) },
    steps,
    turns: since,
    id: label(document.session_id) ?? label(document.trajectory_id),
    agents: name === undefined ? undefined : [{ id: name, name, model: label(agent.model_name) }],
    reported:
      usd === undefined && usage === undefined
        ? undefined
        : {
            usage,
            cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
          },
    records: {
      toolCalls: 'full',
      toolArgs: 'full',
      toolResults: 'full',
      llmCalls: 'full',
      prompts: prompts ? ('full' as const) : undefined,
    },
    meta: { agent_version: label(agent.version), notes: text(document.notes) },
  };
}

function agentStep(
  step: Fields,
  known: {
    name: string | undefined;
    model: string | undefined;
    input: readonly Turn[];
    isFirst: boolean;
  },
): DraftStep[] {
  const calls = objects(step.tool_calls).flatMap((call): Call[] => {
    const name = label(pick(call, 'function_name', 'name'));
    return name === undefined
      ? []
      : [{ name, ...argumentsOf(call.arguments), id: label(call.tool_call_id) }];
  });
  const thought = text(step.reasoning_content);
  const parts = contentOf(step.message).parts;
  const metrics = fields(step.metrics);
  const usd = amount(metrics.cost_usd);
  const at = time(step.timestamp);
  const output: Turn = {
    role: 'assistant',
    parts:
      thought === undefined || thought === ''
        ? parts
        : [{ type: 'reasoning', text: thought }, ...parts],
    calls: calls.length !== 0 ? calls : undefined,
  };
  // A step without a model call is an action of the program.
  if (step.llm_call_count === 0)
    return calls.map(
      (call) =>
        ({
          kind: 'tool',
          ...call,
          agent: known.name,
          t0: at,
          callId: call.id,
          evidence: ['message'],
        }) as DraftStep,
    );
  return [
    {
      kind: 'llm',
      output,
      input: known.input.length !== 0 ? known.input : undefined,
      inputIsDelta: known.isFirst ? undefined : true,
      agent: known.name,
      model: label(step.model_name) ?? known.model,
      usage: usageOf(metrics, ''),
      cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
      t0: at,
    },
  ];
}

function usageOf(metrics: Fields, prefix: string): Usage | undefined {
  const usage: Usage = {
    input: amount(metrics[`${prefix}prompt_tokens`]),
    output: amount(metrics[`${prefix}completion_tokens`]),
    cacheRead: amount(metrics[`${prefix}cached_tokens`]),
  };
  return hasValues(usage) ? usage : undefined;
}

/** Observations by call id, or in order without ids. */
function resultsOf(step: Fields): Turn[] {
  const calls = objects(step.tool_calls);
  return objects(fields(step.observation).results).map((result, i): Turn => {
    const { value, parts } = outcomeOf(result.content);
    const name = label(pick(fields(calls[i]), 'function_name', 'name'));
    let status: 'error' | 'ok' | undefined;
    if (result.is_error === true) status = 'error' as const;
    else if (result.is_error === false) status = 'ok' as const;
    return {
      role: 'tool',
      parts,
      callId: label(result.source_call_id),
      name: label(result.source_call_id) === undefined ? name : undefined,
      result: value ?? null,
      status,
      error:
        status === 'error'
          ? { message: typeof value === 'string' ? value : JSON.stringify(value ?? '') }
          : undefined,
    };
  });
}

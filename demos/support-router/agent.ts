// The agent under test: a support team with the OpenAI Agents SDK. A scripted model answers over
// real HTTP unless DEMO_LIVE=1.
import { startScriptedModel } from '@agentci/scripted-model';
import {
  InputGuardrailTripwireTriggered,
  OutputGuardrailTripwireTriggered,
  type RunItem,
  Runner,
  type RunState,
  setDefaultOpenAIClient,
  setTracingDisabled,
} from '@openai/agents';
import OpenAI from 'openai';
import { specialists, triage } from './desk.ts';
import { REPLIES } from './guardrails.ts';
import { think } from './scripted-mind.ts';

// Otherwise, spans would be sent to the SDK's vendor.
setTracingDisabled(true);
if (process.env.DEMO_LIVE !== '1') {
  const { url } = await startScriptedModel({ script: think(process.env.DEMO_MUTATION) });
  setDefaultOpenAIClient(new OpenAI({ apiKey: 'scripted', baseURL: url }));
}
const runner = new Runner();

const ROLES = Object.fromEntries([
  [
    triage.name,
    { role: 'triage', can_hand_off_to: specialists.map(({ name }) => name), can_delegate: true },
  ],
  ...specialists.map(({ name, tools }) => [
    name,
    { role: 'specialist', tools: tools.map((tool) => tool.name) },
  ]),
]);

/**
 * Calls the agents and records their steps in the simple form. If a guardrail stops a run, its
 * reply is the answer.
 */
export default async function ask(query: string, { signal }: { signal?: AbortSignal } = {}) {
  const started = performance.now();
  const done = (answer: string, state: State | undefined, guardrail?: string) => ({
    query,
    answer,
    agent_roles: ROLES,
    ...(state === undefined ? {} : recordingOf(state)),
    metadata: { guardrail: guardrail ?? null },
    latency_ms: Math.round(performance.now() - started),
  });
  try {
    const result = await runner.run(triage, query, { maxTurns: 8, ...(signal ? { signal } : {}) });
    return done(String(result.finalOutput ?? ''), result.state);
  } catch (error) {
    if (
      !(
        error instanceof InputGuardrailTripwireTriggered ||
        error instanceof OutputGuardrailTripwireTriggered
      )
    )
      throw error;
    const { name } = error.result.guardrail;
    return done(REPLIES[name] ?? 'I am sorry, I cannot help with that.', error.state, name);
  }
}

/** The used fields of a run's state, finished or stopped. */
type State = Pick<RunState<undefined, typeof triage>, '_generatedItems' | '_modelResponses'>;

function recordingOf(state: State) {
  const items = state._generatedItems;
  return {
    llm_calls: state._modelResponses.map(({ usage }) => ({
      model: 'gpt-4o-mini',
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
    })),
    tool_calls: toolCallsOf(items),
    handoffs: items.flatMap((item) =>
      item.type === 'handoff_output_item'
        ? [{ from: item.sourceAgent.name, to: item.targetAgent.name }]
        : [],
    ),
  };
}

function toolCallsOf(items: readonly RunItem[]) {
  const outputs = new Map(
    items.flatMap((item) =>
      item.type === 'tool_call_output_item' && 'callId' in item.rawItem
        ? [[item.rawItem.callId, item.output] as const]
        : [],
    ),
  );
  return items.flatMap((item) => {
    if (item.type !== 'tool_call_item' || item.rawItem.type !== 'function_call') return [];
    const { callId, name, arguments: args } = item.rawItem;
    return [
      {
        id: callId,
        name,
        args: JSON.parse(args) as unknown,
        result: outputs.get(callId),
        agent: item.agent.name,
      },
    ];
  });
}

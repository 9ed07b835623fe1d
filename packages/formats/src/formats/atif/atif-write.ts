import { hasValues } from '@agentci/lib/data';
import type { LlmStep, Message, Part, ToolStep, Trace, Usage } from '@agentci/trace';
import { finalText } from '@agentci/trace';

const IS_ERROR: Readonly<Record<string, boolean | undefined>> = { error: true, ok: false };

/**
 * A trace as an ATIF document, without the parts that ATIF cannot represent (handoffs, guardrails,
 * resources).
 */
export function toAtif(trace: Trace): object {
  const writer = new Steps();
  for (const message of trace.task?.input ?? []) writer.say(message);
  for (const step of trace.steps) {
    if (step.kind === 'llm') writer.reply(step);
    else if (step.kind === 'tool') writer.call(step);
  }
  writer.answer(finalText(trace));
  const [agent] = trace.agents;
  const model = trace.steps.find(
    (step): step is LlmStep => step.kind === 'llm' && step.model !== undefined,
  )?.model;
  const { usage, cost } = trace.reported ?? {};
  return {
    schema_version: 'ATIF-v1.6',
    session_id: trace.id,
    agent: {
      name: agent?.name ?? 'agent',
      version: 'unknown',
      model_name: model,
    },
    steps: writer.steps,
    final_metrics:
      usage === undefined && cost === undefined
        ? undefined
        : {
            ...metrics(usage, 'total_'),
            total_cost_usd: cost?.usd,
          },
  };
}

interface AtifStep {
  step_id: number;
  source: 'system' | 'user' | 'agent';
  message: string;
  timestamp?: string;
  model_name?: string;
  reasoning_content?: string;
  tool_calls?: object[];
  observation?: { results: object[] };
  metrics?: object;
  llm_call_count?: number;
}

/** Steps in the making: calls belong to the reply that asked for them. */
class Steps {
  readonly steps: AtifStep[] = [];
  readonly #byLlm = new Map<string, AtifStep>();
  #calls = 0;

  say(message: Message): void {
    if (message.role !== 'user' && message.role !== 'system') return;
    this.#add(message.role, textOf(message.parts), undefined);
  }

  reply(step: LlmStep): void {
    const parts = step.output?.parts ?? [];
    const thoughts = parts
      .flatMap((part) => (part.type === 'reasoning' ? [part.text] : []))
      .join('\n');
    const written = this.#add('agent', textOf(parts), step.t0);
    if (step.model !== undefined) written.model_name = step.model;
    if (thoughts !== '') written.reasoning_content = thoughts;
    const counted = {
      ...metrics(step.usage, ''),
      cost_usd: step.cost?.usd,
    };
    if (hasValues(counted)) written.metrics = counted;
    this.#byLlm.set(step.id, written);
  }

  call(step: ToolStep): void {
    const requester =
      step.requestedBy === undefined ? undefined : this.#byLlm.get(step.requestedBy);
    const written = requester ?? this.#own(step);
    const id = step.callId ?? `call_${++this.#calls}`;
    written.tool_calls ??= [];
    written.tool_calls.push({
      tool_call_id: id,
      function_name: step.name,
      arguments: step.args ?? (step.argsRaw === undefined ? {} : { raw: step.argsRaw }),
    });
    const content = step.result ?? step.error?.message;
    if (content === undefined && step.status === 'unknown') return;
    written.observation ??= { results: [] };
    written.observation.results.push({
      source_call_id: id,
      content: typeof content === 'string' ? content : JSON.stringify(content ?? null),
      is_error: IS_ERROR[step.status],
    });
  }

  /** The answer, unless the last reply already is it. */
  answer(text: string | undefined): void {
    const last = this.steps.at(-1);
    if (
      text === undefined ||
      (last?.source === 'agent' && last.message === text && last.tool_calls === undefined)
    )
      return;
    this.#add('agent', text, undefined);
  }

  /** A call that no recorded model asked for. */
  #own(step: ToolStep): AtifStep {
    const written = this.#add('agent', '', step.t0);
    written.llm_call_count = 0;
    return written;
  }

  #add(source: AtifStep['source'], message: string, at: number | undefined): AtifStep {
    const step: AtifStep = { step_id: this.steps.length + 1, source, message };
    if (at !== undefined && Math.abs(at) <= 8.64e15) step.timestamp = new Date(at).toISOString();
    this.steps.push(step);
    return step;
  }
}

const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

const metrics = (usage: Usage | undefined, prefix: string): Record<string, number | undefined> => ({
  [`${prefix}prompt_tokens`]: usage?.input,
  [`${prefix}completion_tokens`]: usage?.output,
  [`${prefix}cached_tokens`]: usage?.cacheRead,
});

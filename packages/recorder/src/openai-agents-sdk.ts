import {
  Agent,
  OpenAIProvider,
  Runner,
  type Span,
  setTraceProcessors,
  type Trace,
  tool,
} from '@openai/agents';
import { asJson, type Recording } from './recording.ts';
import { stable } from './stable.ts';
import { callTool, INSTRUCTIONS, MODEL, QUESTION, repliesWithHandoff, TOOLS } from './story.ts';
import { withModel } from './tee.ts';

function agents(): Agent {
  const tools = TOOLS.map(({ name, description, parameters }) =>
    tool({
      name,
      description,
      parameters: { ...parameters, required: [...parameters.required] } as never,
      strict: true,
      execute: async (args: unknown) => callTool(name, args as Record<string, unknown>),
    }),
  );
  const billing = new Agent({ name: 'billing', instructions: INSTRUCTIONS, model: MODEL, tools });
  return Agent.create({
    name: 'triage',
    instructions: 'Pass customers on to the right agent.',
    model: MODEL,
    handoffs: [billing],
  });
}

/** Collects exported traces in order: a trace at its start, spans at their end. */
function collectTraces(into: unknown[]): void {
  setTraceProcessors([
    {
      onTraceStart: async (trace: Trace) => void into.push(trace.toJSON()),
      onTraceEnd: async () => undefined,
      onSpanStart: async () => undefined,
      onSpanEnd: async (span: Span<never>) => void into.push(span.toJSON()),
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    },
  ]);
}

/** Items, history and state of a run with a handoff, and its trace spans. */
export const record = (): Promise<Recording> =>
  withModel(repliesWithHandoff('transfer_to_billing'), async ({ url }) => {
    const exported: unknown[] = [];
    collectTraces(exported);
    const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL: url, useResponses: true });
    const runner = new Runner({ modelProvider, workflowName: 'support', groupId: 'customer-1' });
    const result = await runner.run(agents(), QUESTION);
    const files = {
      'new-items.json': result.newItems,
      'history.json': result.history,
      'state.json': result.state,
      'trace-spans.json': exported,
    };
    const OWN_IDS = [/\btrace_[0-9a-f]{32}\b/g, /\bspan_[0-9a-f]{24}\b/g];
    return Object.fromEntries(
      Object.entries(files).map(([name, value]) => [name, asJson(stable(value, OWN_IDS))]),
    );
  });

import { callTool, INSTRUCTIONS, MODEL, QUESTION, TOOLS } from '@agentci/recorder';
import { Agent, run, setTracingDisabled, tool } from '@openai/agents';

setTracingDisabled(true);
const tools = TOOLS.map(({ name, description, parameters }) =>
  tool({
    name,
    description,
    parameters: { ...parameters, required: [...parameters.required] } as never,
    strict: true,
    execute: async (args: unknown) => callTool(name, args as Record<string, unknown>),
  }),
);
const result = await run(
  new Agent({ name: 'billing', instructions: INSTRUCTIONS, model: MODEL, tools }),
  QUESTION,
);
process.stdout.write(String(result.finalOutput));

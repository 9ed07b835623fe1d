import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createHandoffTool, createSwarm } from '@langchain/langgraph-swarm';
import { ChatOpenAI } from '@langchain/openai';
import { callTool, INSTRUCTIONS, MODEL, TOOLS } from './story.ts';

type Args = Record<string, unknown>;

/** Two agents of LangGraph: triage, which can only hand over, and billing, which has the tools. */
export function swarm(url: string) {
  const llm = new ChatOpenAI({ model: MODEL, apiKey: 'none', configuration: { baseURL: url } });
  const tools = TOOLS.map(({ name, description, parameters }) =>
    tool(async (args: unknown) => callTool(name, args as Args), {
      name,
      description,
      schema: { ...parameters },
    }),
  );
  const triage = createReactAgent({
    llm,
    name: 'triage',
    prompt: 'Pass customers on to the right agent.',
    tools: [
      createHandoffTool({ agentName: 'billing', description: 'Passes the customer on to billing' }),
    ],
  });
  const billing = createReactAgent({ llm, name: 'billing', prompt: INSTRUCTIONS, tools });
  // The declared types of both packages differ in an unused parameter.
  const agents = [triage, billing] as unknown as Parameters<typeof createSwarm>[0]['agents'];
  return createSwarm({ agents, defaultActiveAgent: 'triage' }).compile();
}

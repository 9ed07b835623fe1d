// The agent under test: a LangGraph graph of two nodes, a model that may call tools and the tools themselves.
//   RAG_PROMPT=v1-broken   the prompt before the fix (v2-fixed when not given)
//   DEMO_LIVE=1            a real model: needs OPENAI_API_KEY; otherwise a scripted one behind real HTTP
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startScriptedModel } from '@agentci/scripted-model';
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { think } from './scripted-mind.ts';
import { tools } from './tools.ts';

const MODEL = 'gpt-4o-mini';
/** Two graph steps per search. The broken prompt needs eleven searches. */
const RECURSION_LIMIT = 60;

const prompt = process.env.RAG_PROMPT ?? 'v2-fixed';
const system = readFileSync(
  join(dirname(fileURLToPath(import.meta.url)), 'prompts', `${prompt}.md`),
  'utf8',
);

const connection =
  process.env.DEMO_LIVE === '1'
    ? {}
    : {
        apiKey: 'scripted',
        configuration: {
          baseURL: (await startScriptedModel({ script: think(process.env.DEMO_MUTATION) })).url,
        },
      };
const model = new ChatOpenAI({ model: MODEL, temperature: 0, ...connection }).bindTools(tools);

const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode('tools', new ToolNode(tools))
  .addEdge('__start__', 'agent')
  .addConditionalEdges('agent', toolsCondition)
  .addEdge('tools', 'agent')
  .compile();

/** Calls the agent and records its steps in the simple form. */
export default async function ask(query: string, { signal }: { signal?: AbortSignal } = {}) {
  const started = performance.now();
  const { messages } = await graph.invoke(
    { messages: [new SystemMessage(system), new HumanMessage(query)] },
    { recursionLimit: RECURSION_LIMIT, ...(signal ? { signal } : {}) },
  );
  return { query, ...recordingOf(messages), latency_ms: Math.round(performance.now() - started) };
}

function recordingOf(messages: readonly BaseMessage[]) {
  const replies = messages.filter((message): message is AIMessage => message instanceof AIMessage);
  const results = new Map(
    messages
      .filter((message) => message instanceof ToolMessage)
      .map((message) => [message.tool_call_id, message]),
  );
  return {
    answer: replies.at(-1)?.text ?? null,
    model: MODEL,
    llm_calls: replies.map((reply) => {
      const usage = reply.usage_metadata as UsageMetadata | undefined;
      return {
        model: MODEL,
        input_tokens: usage?.input_tokens,
        output_tokens: usage?.output_tokens,
      };
    }),
    tool_calls: replies
      .flatMap(({ tool_calls = [] }) => tool_calls)
      .map(({ id = '', name, args }) => {
        const result = results.get(id);
        return {
          id,
          name,
          args,
          result: result?.text,
          error: result?.status === 'error' ? result.text : null,
        };
      }),
  };
}

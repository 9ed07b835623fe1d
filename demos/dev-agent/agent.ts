// The agent under test, an ordinary program: reads the query from stdin and writes the recording to
// stdout. A scripted model answers over real HTTP unless DEMO_LIVE=1. agent.py is the same agent in
// Python.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { startScriptedModel } from '@agentci/scripted-model';
import OpenAI from 'openai';
import { think } from './scripted-mind.ts';
import { callTool, TOOLS } from './tools.ts';

const MODEL = 'gpt-4o-mini';
const MAX_TURNS = 20;

const { query } = JSON.parse(await text(process.stdin)) as { query: string };
const scripted =
  process.env.DEMO_LIVE === '1'
    ? undefined
    : await startScriptedModel({ script: think(process.env.DEMO_MUTATION) });
const client = new OpenAI(
  scripted === undefined ? {} : { apiKey: 'scripted', baseURL: scripted.url },
);

const started = performance.now();
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: readFileSync(new URL('./prompt.md', import.meta.url), 'utf8') },
  { role: 'user', content: query },
];
const llmCalls: object[] = [];
const toolCalls: object[] = [];
let answer: string | null = null;

for (let turn = 0; turn < MAX_TURNS && answer === null; turn++) {
  const { choices, usage } = await client.chat.completions.create({
    model: MODEL,
    messages,
    tools: TOOLS,
  });
  llmCalls.push({
    model: MODEL,
    input_tokens: usage?.prompt_tokens,
    output_tokens: usage?.completion_tokens,
  });
  const said = choices[0]!.message;
  messages.push(said);
  const wanted = (said.tool_calls ?? []).filter((call) => call.type === 'function');
  if (wanted.length === 0) answer = said.content ?? '';
  for (const { id, function: asked } of wanted) {
    const args = JSON.parse(asked.arguments) as Record<string, unknown>;
    const { result, error } = callTool(asked.name, args);
    toolCalls.push({ id, name: asked.name, args, result, error });
    messages.push({ role: 'tool', tool_call_id: id, content: result });
  }
}

const latency = Math.round(performance.now() - started);
process.stdout.write(
  `${JSON.stringify({ query, answer, model: MODEL, llm_calls: llmCalls, tool_calls: toolCalls, latency_ms: latency })}\n`,
);
await scripted?.close();

import {
  callModel,
  KEY_VARIABLES,
  ModelError,
  type ModelReply,
  parseModelName,
  showModel,
} from '@agentci/judge';
import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import { andMore } from '@agentci/lib/text';
import type { RunnerConfig } from '@agentci/spec';
import { isPromptFile, readPromptFile } from '@agentci/spec';
import { simpleTrace } from '@agentci/trace';
import { filledText } from './fill-texts.ts';
import { AgentError, type Runner, type RunnerEnvironment, type RunRequest } from './runner.ts';

type ModelConfig = Extract<RunnerConfig, { kind: 'model' }>;

/**
 * A model as the agent: fills in the prompt, sends it, and makes the trace from the provider's
 * response.
 */
export function createModelRunner(config: ModelConfig, around: RunnerEnvironment): Runner {
  const env = { ...around.env, ...config.env };
  const keys = new Map<string, string | undefined>();
  return {
    run: async (request) => {
      const written = filledText(config.model, request);
      const name = parseModelName(written, { hasBaseUrl: config.baseUrl !== undefined });
      if (name === undefined)
        throw new AgentError('agent', `runner.model: no known provider has the model "${written}"`);
      if (!keys.has(name.provider)) keys.set(name.provider, keyOf(name.provider, config, env));
      const started = performance.now();
      try {
        const reply = await callModel({
          name,
          ...messagesOf(promptOf(config, request, around.dir), request),
          temperature: config.temperature,
          structured: false,
          maxOutputTokens: undefined,
          baseUrl: config.baseUrl,
          apiKey: keys.get(name.provider),
          timeoutMs: around.timeoutMs,
          signal: request.signal,
        });
        const wallMs = performance.now() - started;
        if (reply.refused)
          throw new AgentError('agent', 'the model refused to answer (content filter)');
        if (reply.text.trim() === '' && reply.toolCalls === undefined)
          throw new AgentError(
            'agent',
            `the model gave an empty answer (finish reason: ${reply.finish ?? 'unknown'})`,
          );
        return {
          value: traceOf(reply, { model: name.model, provider: name.provider, wallMs }),
          wallMs,
        };
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        const kind = error.kind === 'infra' || error.kind === 'interrupted' ? 'infra' : 'agent';
        throw new AgentError(kind, `${showModel(name)}: ${error.message}`, {
          retryAfterMs: error.retryAfterMs,
        });
      }
    },
    close: async () => {},
  };
}

/**
 * With `{{query}}` in it the prompt is the user message. Without, it is the system message,
 * followed by the query.
 */
function messagesOf(
  prompt: { readonly written: string; readonly filled: string } | undefined,
  { query, turn }: RunRequest,
): Asked {
  const first = firstMessages(prompt, query);
  if (turn?.messages === undefined || turn.messages.length <= 1) return first;
  const { user, ...rest } = first;
  const later = turn.messages.slice(1);
  return {
    ...rest,
    history: [{ role: 'user', content: user }, ...later.slice(0, -1)],
    user: turn.message,
  };
}

type Asked = Pick<Parameters<typeof callModel>[0], 'system' | 'user' | 'history'>;

function firstMessages(
  prompt: { readonly written: string; readonly filled: string } | undefined,
  query: string,
): Asked {
  if (prompt === undefined) return { user: query };
  return /\{\{\s*query\s*(?:\|[^}]*)?\}\}/.test(prompt.written)
    ? { user: prompt.filled }
    : { system: prompt.filled, user: query };
}

function promptOf(
  { prompt }: ModelConfig,
  request: RunRequest,
  dir: string,
): { written: string; filled: string } | undefined {
  if (prompt === undefined) return undefined;
  const written = isPromptFile(prompt) ? readPrompt(filledText(prompt, request), dir) : prompt;
  return { written, filled: filledText(written, request) };
}

function readPrompt(path: string, dir: string): string {
  const found = readPromptFile(path, dir);
  if ('why' in found)
    throw new AgentError('agent', `runner.prompt: the file "${path}" ${found.why}`);
  return found.text;
}

function keyOf(
  provider: keyof typeof KEY_VARIABLES,
  { apiKeyEnv }: ModelConfig,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const names = apiKeyEnv === undefined ? KEY_VARIABLES[provider] : [apiKeyEnv];
  if (names.length === 0) return undefined;
  const name = names.find((each) => env[each]?.trim());
  if (name === undefined) {
    throw new UserError(
      'RUNNER_ENV_MISSING',
      `runner.model has no key: the environment variable ${names.join(' or ')} is not set`,
      {
        hint: 'Set it, or name another with api_key_env.',
      },
    );
  }
  const value = env[name]!.trim();
  SECRETS.add([{ name, value }]);
  return value;
}

const MAX_SHOWN = 80;

/**
 * One call of a model. Without tool calls in the reply there were none. With tool calls the model
 * has not answered yet: its text before them is not the answer, and the run is incomplete.
 */
function traceOf(
  { text, usage, finish, toolCalls = [] }: ModelReply,
  {
    model,
    provider,
    wallMs,
  }: { readonly model: string; readonly provider: string; readonly wallMs: number },
): object {
  const asksForTools = toolCalls.length > 0;
  const trace = simpleTrace({
    ...(asksForTools ? { status: 'incomplete' } : { answer: text }),
    model,
    llm_calls: [
      {
        model,
        latency_ms: wallMs,
        input_tokens: usage.input,
        output_tokens: usage.output,
      },
    ],
    tool_calls: toolCalls.map(({ name, args }) => ({ name, args: argumentsOf(args) })),
  });
  if (asksForTools) {
    const names = andMore([...new Set(toolCalls.map(({ name }) => JSON.stringify(name)))], 3);
    const said =
      text.trim() === ''
        ? ''
        : `; before, it said ${JSON.stringify(text.trim().slice(0, MAX_SHOWN))}`;
    trace.warnings.push({
      code: 'MODEL_ASKED_FOR_TOOLS',
      message: `the model asked for ${names} instead of answering${said}. A "model" runner runs no tools: use a command, module or http runner for an agent with tools`,
    });
  }
  for (const step of trace.steps) {
    if (step.kind !== 'llm') continue;
    step.provider = provider;
    if (finish !== undefined) step.finish = finish;
    if (step.usage !== undefined)
      Object.assign(step.usage, { cacheRead: usage.cacheRead, cacheWrite: usage.cacheWrite });
  }
  return trace;
}

/** A model may write any text as arguments. */
const argumentsOf = (args: unknown): object =>
  typeof args === 'object' && args !== null && !Array.isArray(args)
    ? args
    : { value: args ?? null };

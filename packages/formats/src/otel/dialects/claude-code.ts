import { turnOfText } from '../../build/messages.ts';
import { anthropicUsage } from '../../build/token-usage.ts';
import { amount, argumentsOf, flag, label, pick, resultOf, text } from '../../build/values.ts';
import { type Dialect, fate, type Reading } from '../dialect.ts';
import type { Span } from '../span.ts';

/** Claude Code's telemetry: spans `claude_code.*`, and log events of the same names without a span. */
export const claudeCode: Dialect = {
  name: 'claude-code',
  matches: ({ name, scope }) =>
    name.startsWith('claude_code.') || scope.startsWith('com.anthropic.claude_code'),
  read: (span) => {
    switch (span.name) {
      case 'claude_code.interaction':
        return agentOf(span);
      case 'claude_code.llm_request':
      case 'claude_code.api_request':
        return llmOf(span);
      case 'claude_code.api_error':
        return {
          ...llmOf(span),
          status: 'error',
          error: { message: label(span.attributes.error) ?? '' },
        } as Reading;
      case 'claude_code.tool':
      case 'claude_code.tool.execution':
      case 'claude_code.tool_result':
        return toolOf(span);
      default:
        return undefined;
    }
  },
};

function agentOf(span: Span): Reading {
  const asked = text(pick(span.attributes, 'user_prompt', 'prompt'));
  return {
    kind: 'agent',
    name: 'claude-code',
    ...fate(span),
    input: asked === undefined ? undefined : [turnOfText('user', asked)],
  };
}

function llmOf(span: Span): Reading {
  const { attributes } = span;
  const usd = amount(attributes.cost_usd);
  return {
    kind: 'llm',
    provider: 'anthropic',
    ...fate(span),
    model: label(pick(attributes, 'model', 'gen_ai.request.model')),
    usage: anthropicUsage({
      input_tokens: pick(attributes, 'input_tokens', 'gen_ai.usage.input_tokens'),
      output_tokens: pick(attributes, 'output_tokens', 'gen_ai.usage.output_tokens'),
      cache_read_input_tokens: attributes.cache_read_tokens,
      cache_creation_input_tokens: attributes.cache_creation_tokens,
    }),
    cost: usd === undefined ? undefined : { usd, source: 'reported' as const },
    ttftMs: amount(attributes.ttft_ms),
    responseId: label(attributes.request_id),
  };
}

/** A log has `success: "false"`; a span has its status. */
function toolOf(span: Span): Reading {
  const { attributes } = span;
  let said: boolean | undefined;
  if (attributes.success === 'true') said = true;
  else if (attributes.success === 'false') said = false;
  else said = flag(attributes.success);
  const error = label(attributes.error);
  const ended = fate(span);
  let { status } = ended;
  if (said !== undefined) status = said ? 'ok' : 'error';
  return {
    kind: 'tool',
    name: label(pick(attributes, 'tool_name', 'gen_ai.tool.name')) ?? 'unknown',
    ...argumentsOf(pick(attributes, 'tool_input', 'tool_parameters', 'gen_ai.tool.call.arguments')),
    callId: label(pick(attributes, 'tool_use_id', 'gen_ai.tool.call.id')),
    result: resultOf(pick(attributes, 'tool_output', 'tool_result', 'gen_ai.tool.call.result')),
    status,
    error: said === false && error !== undefined ? { message: error } : ended.error,
  };
}

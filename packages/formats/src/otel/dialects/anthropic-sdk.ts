import { label, resultOf, text } from '../../build/values.ts';
import { type Dialect, fate, type Reading } from '../dialect.ts';
import { llmOf, readGenAi } from './genai.ts';

const TOOL = /^anthropic\.(?:custom_tool_use|mcp_tool_use|tool_use|server_tool_use) (.+)$/;

/** The Anthropic SDK's spans: GenAI names, but a separate attribute for tool results. */
export const anthropicSdk: Dialect = {
  name: 'anthropic-sdk',
  matches: ({ scope, name }) =>
    scope.startsWith('com.anthropic.sdk') || name.startsWith('anthropic.messages.'),
  read: (span) => {
    if (span.name === 'anthropic.messages.tool_runner')
      return {
        kind: 'agent',
        name: label(span.attributes['gen_ai.agent.name']) ?? 'tool_runner',
        ...fate(span),
      };
    if (span.name.startsWith('anthropic.messages.')) return llmOf(span);
    const tool = TOOL.exec(span.name)?.[1];
    if (tool === undefined) return readGenAi(span);
    const read = readGenAi({
      ...span,
      attributes: {
        'gen_ai.tool.name': tool,
        ...span.attributes,
        'gen_ai.operation.name': 'execute_tool',
      },
    });
    const [step] = Array.isArray(read) ? (read as readonly Reading[]) : [read as Reading];
    const result = text(span.attributes['anthropic.tool_result.content']);
    return step?.kind === 'tool' ? { ...step, result: resultOf(result) ?? step.result } : step;
  },
};

import { toolCalls } from '@agentci/trace';
import { defineMetric, measured, notMeasured } from '../metric.ts';

const MAX_LISTED = 100;

export const metric = defineMetric({
  name: 'tool_success',
  group: 'quality',
  layer: 'correctness',
  needs: ['tool calls with a known end'],
  summary: 'share of tool calls that succeeded',
  evaluate: ({ trace }) => {
    if (!trace || trace.captured.toolCalls === 'none')
      return notMeasured('tool calls were not captured', { tool_calls: [] });
    const calls = toolCalls(trace);
    const listed = calls
      .slice(0, MAX_LISTED)
      .map(({ name, status }) => ({ name, status: WORDS[status] ?? status }));
    if (calls.length === 0) return notMeasured('no tool calls', { tool_calls: [] });
    const decided = calls.filter((call) => call.status !== 'unknown');
    const unknown = calls.length - decided.length;
    const detail = { tool_calls: listed, unknown: unknown > 0 ? unknown : undefined };
    if (unknown > 0)
      return notMeasured(
        `${unknown} of ${calls.length} tool calls were recorded without a result or a status`,
        detail,
      );
    const succeeded = decided.filter((call) => call.status === 'ok').length;
    return measured(succeeded / decided.length, detail);
  },
});

const WORDS: Readonly<Record<string, string>> = { ok: 'success' };

import { compileGlob } from '@agentci/lib/regex';
import { v } from '@agentci/lib/values';
import type { Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { caseOf } from '../input.ts';
import { defineMetric, type Found, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { saidIn } from './said.ts';

const list = v.array(v.string().regex(/\S/)).min(1);
const params = () =>
  metricParams({
    tools: list.optional().describe('tools that must have succeeded; measured without a judge'),
    goals: list
      .optional()
      .describe('what the user wants, one goal each (default: found by the judge)'),
  });

export const metric = defineMetric({
  name: 'conversation_completeness',
  group: 'conversation',
  layer: 'correctness',
  needs: ['tool calls with the parameter tools', 'else the answer of every turn and a judge'],
  summary: 'share of what the user wanted that was done by the end',
  params,
  evaluate: async (input) => {
    const { tools, goals } = input.params;
    if (!input.trace) return notMeasured('no trace');
    if (tools !== undefined) return byTools(input.trace, tools);
    const said = saidIn(input);
    if (typeof said === 'string') return notMeasured(said);
    const { goal } = caseOf(input);
    const { judgeGoals } = await import('./judged-goals.ts');
    return judgeGoals(input, said, goals ?? (goal === undefined ? undefined : [goal]));
  },
});

function byTools(trace: Trace, tools: readonly string[]): Found {
  const calls = toolCalls(trace);
  const found = tools.map((tool) => {
    const is = compileGlob(tool);
    const own = calls.filter(
      ({ name, rawName }) => is(name) || (rawName !== undefined && is(rawName)),
    );
    let status: 'done' | 'unknown' | 'missing';
    if (own.some((call) => call.status === 'ok')) status = 'done';
    else if (own.some((call) => call.status === 'unknown')) status = 'unknown';
    else status = 'missing';
    return { tool, status };
  });
  const detail = { method: 'tools', tools: found };
  const open = found.filter(({ status }) => status !== 'done').map(({ tool }) => tool);
  if (open.length > 0 && trace.captured.toolCalls !== 'full')
    return notMeasured(
      `tool calls were not captured in full, and no call of ${open.join(', ')} was seen`,
      detail,
    );
  const unknown = found.find(({ status }) => status === 'unknown');
  if (unknown !== undefined)
    return notMeasured(
      `the call of ${unknown.tool} was recorded without a result or a status`,
      detail,
    );
  return measured((found.length - open.length) / found.length, detail);
}

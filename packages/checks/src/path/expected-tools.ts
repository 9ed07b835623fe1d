import type { Problem } from '@agentci/lib/problems';
import { visibleNames } from '@agentci/lib/text';
import { v } from '@agentci/lib/values';
import { type ToolOverlap, toolOverlap } from '@agentci/metrics';
import type { ToolStep } from '@agentci/trace';
import { capturedCalls, namesOf } from '@agentci/trace';
import { atLeast } from '../bounds.ts';
import { callEvidence, NOT_CAPTURED } from '../calls.ts';
import { type CheckOutcome, defineCheck, held, unmeasured, violated } from '../check.ts';
import { contradiction, nameIssues } from '../issues.ts';
import { toolsText } from '../wants.ts';
import { listed, rounded } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'expected_tools',
  severity: 'warn',
  order: 20,
  summary: 'Every listed tool must be called. With `[]` no tool may be called.',
  wants: (names) =>
    names.length === 0 ? 'No tool calls' : `Calls of the tools ${toolsText(names)}`,
  failure: {
    why: 'an expected tool was not called, or tools were called though the list is empty',
    help: 'the message lists what is missing',
  },
  example: ['lookup_order', 'refund'],
  schema: v.array(v.string()),
  inspect: (tools, siblings) => [
    ...nameIssues('expected_tools', tools),
    ...contradictions(tools, siblings),
  ],
  evaluate: (written, { trace, siblings }) => {
    const tools = visibleNames(written);
    const recorded = capturedCalls(trace);
    if (recorded === undefined)
      return unmeasured(`expected tools: not known, ${NOT_CAPTURED}`, { limit: tools });
    const { calls, isPartial } = recorded;
    if (tools.length === 0) return noTools(calls, isPartial);
    const used = new Set(namesOf(calls, tools));
    const wanted = new Set(tools);
    const missing: string[] = [];
    for (const tool of wanted) if (!used.has(tool)) missing.push(tool);
    const found = `${wanted.size - missing.length} of ${wanted.size} expected tools were used`;
    const min = typeof siblings.min_tool_recall === 'number' ? siblings.min_tool_recall : 1;
    const overlap = toolOverlap(wanted, used);
    return atLeast({
      value: overlap.recall,
      min,
      what: 'tool recall',
      partial: isPartial ? 'rising' : undefined,
      note: missing.length === 0 ? found : `${found}; not called: ${listed(missing)}`,
      rest: isPartial ? undefined : { details: detailsOf(overlap) },
    });
  },
});

const detailsOf = ({ recall, precision, f1 }: ToolOverlap) => ({
  tool_recall: rounded(recall),
  tool_precision: rounded(precision),
  tool_f1: rounded(f1),
});

function noTools(calls: readonly ToolStep[], isPartial: boolean): CheckOutcome {
  const value = calls.length;
  const used = namesOf(calls);
  const details = detailsOf(toolOverlap([], used));
  if (value > 0) {
    const names = listed([...new Set(used)]);
    const evidence = callEvidence(
      calls,
      calls.map((_, i) => i),
    );
    return violated(`tool calls: ${value}, none may be made: ${names}`, {
      value,
      limit: 0,
      details,
      evidence,
    });
  }
  if (isPartial)
    return unmeasured('tool calls: not known, not all were captured; none may be made', {
      limit: 0,
    });
  return held('tool calls: 0, none may be made', { value, limit: 0, details });
}

function contradictions(
  tools: readonly string[],
  siblings: Readonly<Record<string, unknown>>,
): Problem[] {
  if (tools.length > 0) return [];
  const asked = ['expected_tool_sequence', 'expected_tool_args'].find(
    (key) => Array.isArray(siblings[key]) && siblings[key].length > 0,
  );
  return asked === undefined
    ? []
    : [contradiction(`expected_tools: [] allows no tool call, but ${asked} asks for some`)];
}

import { canonicalJson } from '@agentci/lib/data';
import { v } from '@agentci/lib/values';
import type { ToolStep } from '@agentci/trace';
import { capturedCalls } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { callEvidence, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, unmeasured } from '../check.ts';
import { number, plural } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'max_identical_calls',
  severity: 'warn',
  order: 42,
  summary: 'One call, with the same tool and the same arguments, may be made at most this often.',
  wants: (max) => `At most ${plural(max, 'identical call')}`,
  failure: {
    why: 'one call was made too often, with the same arguments',
    help: 'usually a result that the agent does not use. Look at it',
  },
  example: 2,
  schema: v.int().min(1),
  evaluate: (max, { trace }) => {
    const recorded = capturedCalls(trace);
    const what = 'identical calls';
    if (recorded === undefined)
      return unmeasured(`${what}: not known, ${NOT_CAPTURED}; limit ${number(max)}`, {
        limit: max,
      });
    const { calls, isPartial } = recorded;
    const groups = new Map<string, number[]>();
    const hidden = new Map<string, number>();
    for (const [i, call] of calls.entries()) {
      const key = keyOf(call);
      if (key === undefined) hidden.set(call.name, (hidden.get(call.name) ?? 0) + 1);
      else groups.set(key, [...(groups.get(key) ?? []), i]);
    }
    const [largest = []] = [...groups.values()].sort((a, b) => b.length - a.length);
    // Calls without arguments may equal each other and any other call of their tool.
    const most = Math.max(
      0,
      ...[...hidden].map(([name, count]) => count + largestOf(name, calls, groups)),
    );
    const isOpen = isPartial || most > Math.max(largest.length, max);
    const why = isPartial
      ? 'not all tool calls were captured'
      : 'the arguments of some calls were not captured';
    const note = largest.length > 1 ? calls[largest[0]!]!.name : undefined;
    return atMost({
      quantity: isOpen
        ? { exact: false, atLeast: largest.length, why }
        : { exact: true, value: largest.length },
      max,
      what,
      note,
      rest: {
        evidence: callEvidence(calls, largest.slice(max)),
        details: { identical_calls: largest.length },
      },
    });
  },
});

function keyOf({ name, args, argsRaw }: ToolStep): string | undefined {
  if (args === undefined) return argsRaw === undefined ? undefined : `${name} ${argsRaw}`;
  return `${name} ${canonicalJson(args)}`;
}

const largestOf = (
  name: string,
  calls: readonly ToolStep[],
  groups: ReadonlyMap<string, readonly number[]>,
): number =>
  Math.max(
    0,
    ...[...groups.values()]
      .filter(([first]) => calls[first!]!.name === name)
      .map((group) => group.length),
  );

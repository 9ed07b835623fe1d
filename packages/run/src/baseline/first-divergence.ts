import { isDeepStrictEqual } from 'node:util';
import type { ToolStep, Trace } from '@agentci/trace';
import { finalText, toolCalls } from '@agentci/trace';

/** Describes the first step in which a run differs from its baseline. */
export function firstDivergence(before: Trace, after: Trace): string {
  const [old, now] = [toolCalls(before), toolCalls(after)];
  for (let i = 0; i < Math.max(old.length, now.length); i++) {
    const difference = differenceOf(old[i], now[i]);
    if (difference !== undefined) return `tool call ${i + 1}: ${difference}`;
  }
  return finalText(before) === finalText(after)
    ? 'no difference in tool calls or answer'
    : 'the answer';
}

function differenceOf(old: ToolStep | undefined, now: ToolStep | undefined): string | undefined {
  if (old === undefined) return `${now!.name} is new`;
  if (now === undefined) return `${old.name} is missing`;
  if (old.name !== now.name) return `${now.name} instead of ${old.name}`;
  if (old.status !== now.status && now.status === 'error') return `${now.name} failed`;
  return isDeepStrictEqual(old.args, now.args) ? undefined : `${now.name} with other arguments`;
}

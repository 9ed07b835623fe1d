import { present } from '@agentci/lib/data';
import type { Trace, Usage } from '@agentci/trace';
import { isFields } from '@agentci/trace';
import { mayBeCall } from './blocks.ts';
import type { Draft, GapNote } from './draft.ts';
import { GAPS } from './gap-kinds.ts';
import { unshownCalls } from './mentions.ts';
import { isAgent, isHandoff, isKept, isLlm, isTool, keptParent, type Node } from './tree.ts';
import { sumUsage, tokensOf } from './usage.ts';

/** Gaps that a run's steps, totals and adapter reveal. */
export function gapsIn(
  nodes: readonly Node[],
  draft: Draft,
  reported: Trace['reported'],
): GapNote[] {
  const kept = nodes.filter(isKept);
  return present([
    ...(draft.gaps ?? []),
    draft.status === 'incomplete' ? { gap: 'unfinished' as const } : undefined,
    ...kept.filter(isLlm).flatMap(({ draft: { gap } }) => (gap === undefined ? [] : [{ gap }])),
    ...kept.flatMap(({ gaps }) => gaps.map((gap) => ({ gap }))),
    ...replyGaps(kept),
    ...absentParents(nodes),
    ...silentAgents(kept),
    ...uncounted(kept, draft.counts ?? {}),
    ...unusedTokens(kept, reported),
    ...unshownCalls(kept, draft.mentions ?? []),
  ]);
}

/** One warning per kind, with the details of the first gap. */
export function gapWarnings(gaps: readonly GapNote[]): Trace['warnings'] {
  const first = new Map<string, GapNote>();
  for (const note of gaps) if (!first.has(note.gap)) first.set(note.gap, note);
  return [...first.values()].map(({ gap, detail }) => ({
    code: GAPS[gap].code,
    message: detail === undefined ? GAPS[gap].says : `${GAPS[gap].says} (${detail})`,
  }));
}

/**
 * Missing calls that replies reveal. A call or handoff after a reply is assumed to be requested by
 * it.
 */
function replyGaps(kept: readonly Node[]): GapNote[] {
  const acted = new Set<Node>();
  let last: Node | undefined;
  for (const node of kept) {
    if (isLlm(node)) last = node;
    else if (isTool(node) || isHandoff(node)) {
      const asking = node.requester ?? last;
      if (asking !== undefined) acted.add(asking);
    }
  }
  return kept.filter(isLlm).flatMap((node): GapNote[] => {
    const { finish, output, status, usage } = node.draft;
    const data = (output?.parts ?? []).flatMap((part) => (part.type === 'json' ? [part.data] : []));
    const unknown = data.find(mayBeCall);
    if (unknown !== undefined) return [{ gap: 'unknownBlock', ...kindOf(unknown) }];
    if (output?.calls !== undefined || acted.has(node)) return [];
    const isForeign =
      data.length > 0 && output?.parts.every(({ type }) => type === 'json' || type === 'reasoning');
    if (isForeign && finish === undefined) return [{ gap: 'unknownBlock', ...kindOf(data[0]) }];
    if (finish === 'tool_calls') return [{ gap: 'askedForTools' }];
    const isSilent = output?.parts.every(({ type }) => type === 'reasoning') === true;
    const isExplained = status === 'error' || (finish !== undefined && finish !== 'other');
    if (isSilent && !isExplained) return [{ gap: 'emptyReply' }];
    const isPaid = finish === 'stop' && output?.parts.length === 0 && wroteMore(usage);
    return isPaid ? [{ gap: 'emptyReply', detail: `${usage?.output} tokens were written` }] : [];
  });
}

/** Even an empty reply costs the tokens that end it. */
const END_TOKENS = 4;

/** Whether a model wrote more than its thoughts and an end. */
const wroteMore = (usage: Usage | undefined): boolean =>
  (usage?.output ?? 0) - (usage?.reasoning ?? 0) > END_TOKENS;

const kindOf = (block: unknown): { detail?: string } => {
  const type = isFields(block) ? block.type : undefined;
  return typeof type === 'string' ? { detail: type.slice(0, 80) } : {};
};

/** Whether the last reply of a run breaks off: then the run does. */
export function isCutOff(nodes: readonly Node[]): boolean {
  const last = nodes.findLast(isLlm);
  return last?.draft.gap === 'cutOff' || last?.draft.gap === 'damaged';
}

/**
 * Missing parents. One is normal if there is no root: the caller is in another program, or the
 * recorder started below it. A second one, or one next to a root, was lost.
 */
function absentParents(nodes: readonly Node[]): GapNote[] {
  const tops = nodes.filter(({ parent }) => parent === undefined);
  const absent = new Set(
    tops.flatMap(({ draft }) => (draft.parent === undefined ? [] : [draft.parent])),
  );
  const hasRoot = tops.some(({ draft }) => draft.parent === undefined && draft.key !== undefined);
  if (absent.size === 0 || (absent.size === 1 && !hasRoot)) return [];
  return [{ gap: 'absentParent', detail: `${absent.size}: ${[...absent][0]!.slice(0, 80)}` }];
}

/**
 * An agent without any recorded steps. Its output does not show its calls. A list of its whole
 * conversation does, and so do steps that name it.
 */
function silentAgents(kept: readonly Node[]): GapNote[] {
  const parents = new Set(kept.map((node) => keptParent(node)));
  const acting = new Set(
    kept.flatMap(({ draft }) => (draft.kind === 'agent' ? [] : (draft.agent ?? []))),
  );
  const silent = kept.filter(isAgent).find((node) => {
    const { name, isWhole } = node.draft;
    return (
      node.above.agent !== undefined && isWhole !== true && !parents.has(node) && !acting.has(name)
    );
  });
  if (silent === undefined) return [];
  return [
    {
      gap: 'absentChildren',
      detail: `nothing of the agent ${JSON.stringify(silent.draft.name.slice(0, 80))}`,
    },
  ];
}

/** Compares the source's counts with the findings. */
function uncounted(kept: readonly Node[], counts: NonNullable<Draft['counts']>): GapNote[] {
  const found = { llmCalls: kept.filter(isLlm).length, toolCalls: kept.filter(isTool).length };
  const words = { llmCalls: 'model calls', toolCalls: 'tool calls' };
  return (['llmCalls', 'toolCalls'] as const).flatMap((what): GapNote[] => {
    const count = counts[what];
    if (count === undefined || count <= found[what]) return [];
    return [
      { gap: 'moreCounted', detail: `${count} ${words[what]} counted, ${found[what]} found` },
    ];
  });
}

const DRIFT = 1.02;

/** Compares the source's sums with the calls: unexplained tokens were used by missing calls. */
function unusedTokens(kept: readonly Node[], reported: Trace['reported']): GapNote[] {
  const calls = kept.filter(isLlm);
  const outer = kept.filter(isAgent).filter(({ above }) => above.agent === undefined);
  const agents = sumUsage(outer.map(({ draft }) => draft.usage));
  const claimed = Math.max(tokensOf(reported?.usage) ?? 0, tokensOf(agents) ?? 0);
  if (claimed === 0) return [];
  // Some instrumentations cover only agents and tools, and their tool spans are complete.
  const hasSpans = kept.some(
    (node) => isTool(node) && node.draft.evidence?.includes('span') !== false,
  );
  if (calls.length === 0)
    return hasSpans ? [] : [{ gap: 'moreUsed', detail: `${claimed} tokens, no model call` }];
  const summed = tokensOf(sumUsage(calls.map(({ draft }) => draft.usage)));
  if (summed === undefined || claimed <= summed * DRIFT) return [];
  return [{ gap: 'moreUsed', detail: `${claimed} tokens reported, ${summed} by its model calls` }];
}

import type { Captured, Trace } from '../../trace/model.ts';
import type { Gap } from './draft.ts';
import { isLlm, type Node } from './tree.ts';

/** What a reply's record says of itself: where it is not whole, calls may be missing that nobody will find. */
const GAPS: Readonly<Record<Gap, string>> = {
  cutOff: 'a streamed reply ends before its end: calls may be missing',
  damaged: 'events of a streamed reply could not be read: calls may be missing',
  alternatives: 'a reply has several alternatives with calls, and nothing says which one was used: the first is read',
};

/** Tool calls are at best partly known where a reply was not recorded whole. */
export function withGaps(
  records: Partial<Captured>,
  nodes: readonly Node[],
): { readonly records: Partial<Captured>; readonly warnings: Trace['warnings'] } {
  const gaps = new Set(nodes.flatMap(({ draft }) => ('gap' in draft && draft.gap !== undefined ? [draft.gap] : [])));
  if (gaps.size === 0) return { records, warnings: [] };
  const warnings = [...gaps].map((gap) => ({ code: 'REPLY_NOT_WHOLE', message: GAPS[gap] }));
  return { records: { ...records, toolCalls: records.toolCalls === 'none' ? 'none' : 'partial' }, warnings };
}

/** Whether the last reply of a run breaks off: then the run does. */
export function isCutOff(nodes: readonly Node[]): boolean {
  const last = nodes.findLast(isLlm);
  return last?.draft.gap === 'cutOff' || last?.draft.gap === 'damaged';
}

import { hasValues } from '@agentci/lib/data';
import type { Trace, Usage } from '@agentci/trace';
import type { DraftAgent, DraftLlm } from './draft.ts';
import { isAgent, isKept, isLlm, type Node } from './tree.ts';

const DRIFT = 0.02;

/**
 * The stated totals of a run: the source's claim, else an agent's sum if no model call reports its
 * own. Sums over steps stay with the steps.
 */
export function reportedBy(claimed: Trace['reported'], nodes: readonly Node[]): Trace['reported'] {
  const llms = nodes.filter((node): node is Node<DraftLlm> => isLlm(node) && isKept(node));
  const outer = nodes.filter(
    (node): node is Node<DraftAgent> =>
      isAgent(node) && isKept(node) && node.above.agent === undefined,
  );
  const reported: NonNullable<Trace['reported']> = { ...claimed };
  // Seconds become milliseconds: a hostile number can grow beyond all numbers on the way.
  if (reported.durationMs !== undefined && !Number.isFinite(reported.durationMs))
    delete reported.durationMs;
  if (reported.usage === undefined) {
    const usage = sumUsage(outer.map(({ draft }) => draft.usage));
    const isOwn = llms.some(({ draft }) => draft.usage !== undefined);
    // If an agent counts more than its calls explain, calls are missing, and the larger number
    // counts.
    const summed = tokensOf(sumUsage(llms.map(({ draft }) => draft.usage)));
    const isMore = summed !== undefined && (tokensOf(usage) ?? 0) > summed * (1 + DRIFT);
    if (usage !== undefined && (!isOwn || isMore)) reported.usage = usage;
  }
  if (reported.cost === undefined && !llms.some(({ draft }) => draft.cost !== undefined)) {
    const costs = outer.flatMap(({ draft }) => (draft.cost === undefined ? [] : [draft.cost]));
    if (costs.length > 0 && costs.length === outer.length)
      reported.cost = { usd: costs.reduce((sum, { usd }) => sum + usd, 0), source: 'reported' };
  }
  return hasValues(reported) ? reported : undefined;
}

/** Adds the helpers' usage to the run's totals. */
export function withHelpers(
  reported: Trace['reported'],
  helpers: Usage | undefined,
): Trace['reported'] {
  const usage = helpers === undefined ? undefined : sumUsage([reported?.usage, helpers]);
  return usage === undefined ? reported : { ...reported, usage };
}

const KEYS = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'audioIn',
  'audioOut',
  'total',
] as const;

/** The sum, or undefined if any part is unknown. */
export function sumUsage(usages: readonly (Usage | undefined)[]): Usage | undefined {
  if (usages.length === 0 || usages.some((usage) => usage === undefined)) return undefined;
  const sum: Usage = {};
  for (const key of KEYS) {
    const values = usages.map((usage) => usage![key]);
    const isPart = key !== 'input' && key !== 'output' && key !== 'total';
    if (values.every((value) => value === undefined)) continue;
    if (!isPart && values.some((value) => value === undefined)) continue;
    sum[key] = values.reduce((total: number, value) => total + (value ?? 0), 0);
  }
  return hasValues(sum) ? sum : undefined;
}

/** All tokens: the total as given, else both directions. */
export function tokensOf(usage: Usage | undefined): number | undefined {
  const { input, output, total } = usage ?? {};
  return total ?? (input === undefined || output === undefined ? undefined : input + output);
}

import type { Block, BlockValue, Carried, Finding, Layer, Part, Place, Verdict } from './model.ts';
import { carry } from './model.ts';

/** Joins blocks of one layer: in one map if their keys differ, otherwise under `all`. */
export function joinBlocks(blocks: readonly Block[]): Block {
  const [first, ...rest] = blocks;
  if (first === undefined) return {};
  if (rest.length === 0) return first;
  const keys = blocks.flatMap((block) => Object.keys(block));
  if (new Set(keys).size === keys.length && !keys.includes('severity'))
    return Object.assign({}, ...blocks) as Block;
  return { all: blocks };
}

/** The layers of parts, in order of appearance. */
export const layersOf = (parts: readonly Part[]): readonly Layer[] => [
  ...new Set(parts.map(({ layer }) => layer)),
];

/**
 * The negation of all parts together. Undefined if they are in several layers, which no check can
 * negate at once.
 */
export function negate(parts: readonly Part[]): Part | undefined {
  const [layer, ...others] = layersOf(parts);
  if (layer === undefined || others.length > 0) return undefined;
  return { layer, block: { not: joinBlocks(parts.map(({ block }) => block)) } };
}

/** A member of a weighted mean, with a score of 1 or 0. */
export interface Scored {
  readonly carried: Carried;
  readonly weight: number;
  /** A score between 0 and 1 cannot be weighted by boolean checks. */
  readonly isBoolean: boolean;
}

const MAX_MEMBERS = 8;
const MAX_WAYS = 24;

export type Weighed =
  | { readonly ok: true; readonly parts: readonly Part[] }
  | { readonly ok: false; readonly why: string };

/**
 * Checks that hold exactly if the weighted mean of the members reaches the threshold: every minimal
 * set of members that reaches it is one block under `any`.
 */
export function weigh(members: readonly Scored[], threshold: number): Weighed {
  const counted = members.filter(({ weight }) => weight !== 0);
  const left = counted.find(({ carried }) => carried.parts.length === 0);
  if (left !== undefined)
    return { ok: false, why: `${left.carried.finding.type} is not carried, and its score counts` };
  const graded = counted.find(({ isBoolean }) => !isBoolean);
  if (graded !== undefined)
    return {
      ok: false,
      why: `${graded.carried.finding.type} has a score between 0 and 1, which a check cannot weigh`,
    };
  if (counted.some(({ weight }) => weight < 0)) return { ok: false, why: 'a weight is negative' };
  const layers = new Set(counted.flatMap(({ carried }) => layersOf(carried.parts)));
  if (layers.size > 1)
    return { ok: false, why: 'its members are in several layers, and "any" works inside of one' };
  if (counted.length > MAX_MEMBERS)
    return { ok: false, why: `it weighs more than ${MAX_MEMBERS} members` };
  const mean = (chosen: number): number => {
    // Summed in the order of the members, so that rounding is the same.
    let score = 0;
    let weights = 0;
    for (const [i, { weight }] of counted.entries()) {
      score += (chosen & (1 << i) ? 1 : 0) * weight;
      weights += weight;
    }
    return weights > 0 ? score / weights : 0;
  };
  if (mean(0) >= threshold)
    return { ok: false, why: `a threshold of ${threshold} is reached when nothing holds` };
  const enough: number[] = [];
  for (let chosen = 1; chosen < 1 << counted.length; chosen++)
    if (mean(chosen) >= threshold) enough.push(chosen);
  const smallest = enough.filter(
    (chosen) => !enough.some((other) => other !== chosen && (other & chosen) === other),
  );
  if (smallest.length === 0)
    return { ok: false, why: `a threshold of ${threshold} is never reached` };
  if (smallest.length > MAX_WAYS)
    return { ok: false, why: `there are ${smallest.length} ways to reach the threshold` };
  const layer = [...layers][0]!;
  const blocks = smallest.map((chosen) =>
    joinBlocks(
      counted.flatMap(({ carried }, i) =>
        chosen & (1 << i) ? carried.parts.map(({ block }) => block) : [],
      ),
    ),
  );
  if (blocks.length === 1)
    return {
      ok: true,
      parts: counted.flatMap(({ carried }, i) => (smallest[0]! & (1 << i) ? carried.parts : [])),
    };
  return { ok: true, parts: [{ layer, block: { any: blocks } }] };
}

/** The worst of several verdicts: a result from a close part is not exact. */
export const worst = (verdicts: readonly Verdict[]): Verdict => {
  if (verdicts.includes('none')) return 'none';
  if (verdicts.includes('close')) return 'close';
  return 'exact';
};

/** Members that are judged together: one entry in the spec, one line each in the report. */
export function together(
  place: Place,
  type: string,
  members: readonly Carried[],
  weighed: Weighed,
): Carried {
  const findings = members.flatMap(({ finding, members: inner = [] }) => [finding, ...inner]);
  if (!weighed.ok) {
    const why = weighed.why;
    return {
      finding: { ...place, type, verdict: 'none', why },
      parts: [],
      members: findings.map((finding) => fate(finding, 'none', `part of "${type}": ${why}`)),
    };
  }
  const verdict = worst(
    members.map(({ finding }) => finding.verdict).filter((one) => one !== 'none'),
  ) as 'exact' | 'close';
  const made = carry(place, type, verdict, weighed.parts);
  return {
    ...made,
    members: findings.map((finding) => fate(finding, finding.verdict, finding.why)),
  };
}

function fate(finding: Finding, verdict: Verdict, why: string | undefined): Finding {
  const { target, why: _, ...rest } = finding;
  return {
    ...rest,
    verdict,
    target: verdict === 'none' || target === undefined ? undefined : target,
    why,
  };
}

/** The same checks as warnings. */
export const softened = (parts: readonly Part[]): readonly Part[] =>
  parts.map(({ layer, block }) => ({
    layer,
    block: { ...block, severity: 'warn' } satisfies Record<string, BlockValue>,
  }));

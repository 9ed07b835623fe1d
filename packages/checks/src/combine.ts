import { present } from '@agentci/lib/data';
import type { SkipReason } from '@agentci/results';
import { firstEvidence } from '@agentci/results';
import {
  type CheckContext,
  type CheckOutcome,
  held,
  type PartOutcome,
  type Severity,
  skipped,
  unmeasured,
  violated,
} from './check.ts';
import { clip, plural } from './words.ts';

export type Block = Readonly<Record<string, unknown>>;

/**
 * Held, violated, or unknown. `skipped`: the condition of a rule never came up, so it does not
 * count.
 */
export type Truth = 'held' | 'violated' | 'unknown' | 'skipped';

/** A nested block and the combined outcome of its checks, all of which must hold. */
export interface PartBlock {
  readonly truth: Truth;
  readonly parts: readonly PartOutcome[];
}

export function evaluateBlock(
  block: Block,
  at: string,
  { evaluateParts }: CheckContext,
): PartBlock {
  const parts = (evaluateParts?.(block) ?? []).map((part) => ({ ...part, at: `${at}${part.at}` }));
  return { truth: conjunction(parts.map(truthOf)), parts };
}

/** Violated if one is, else unknown if one is, else held if one is. Skipped if all are. */
export function conjunction(truths: readonly Truth[]): Truth {
  return first(truths, ['violated', 'unknown', 'held']) ?? 'skipped';
}

/** Held if one is, else unknown if one is, else violated if one is. */
export function disjunction(truths: readonly Truth[]): Truth {
  return first(truths, ['held', 'unknown', 'violated']) ?? 'skipped';
}

export const negation = (truth: Truth): Truth => {
  if (truth === 'held') return 'violated';
  if (truth === 'violated') return 'held';
  return truth;
};

const first = (truths: readonly Truth[], order: readonly Truth[]): Truth | undefined =>
  order.find((truth) => truths.includes(truth));

/** A rule that never came up does not count. Any other skipped check might have been violated. */
export function truthOf({ seen: { outcome, reason } }: PartOutcome): Truth {
  if (outcome === 'unmeasured') return 'unknown';
  if (outcome === 'skipped') return reason === 'not_exercised' ? 'skipped' : 'unknown';
  return outcome;
}

/**
 * The outcome of a combinator. `deciding` lists the truths that caused it, in order of precedence.
 */
export function combined(options: {
  readonly truth: Truth;
  /** The count and its limit, such as `any: 1 of 3 held`. */
  readonly text: string;
  readonly parts: readonly PartOutcome[];
  readonly deciding: readonly Truth[];
  readonly value: number;
  readonly limit: number;
}): CheckOutcome {
  const { truth, text, parts, deciding, value, limit } = options;
  const decisive = parts.filter((part) => deciding.includes(truthOf(part)));
  const message = decisive.length === 0 ? text : `${text}; ${named(decisive)}`;
  const severity = worst(decisive.length === 0 ? parts : decisive);
  const rest = {
    value,
    limit,
    parts,
    severity,
    evidence: firstEvidence(
      decisive.flatMap(({ seen }) => seen.evidence ?? []),
      MAX_EVIDENCE,
    ),
  };
  switch (truth) {
    case 'held':
      return held(message, rest);
    case 'violated': {
      const open = parts.filter(
        (part) => truthOf(part) === 'unknown' && gravityOf(part) === 'fail',
      );
      const graver =
        open.length === 0
          ? undefined
          : unmeasured(`${text}; ${named([...open, ...decisive])}`, {
              ...rest,
              value: undefined,
              severity: 'fail',
            });
      return violated(message, { ...rest, graver });
    }
    case 'unknown': {
      const reason = commonReason(decisive);
      return reason === undefined
        ? unmeasured(message, { ...rest, value: undefined })
        : skipped(reason, message, { ...rest, value: undefined });
    }
    case 'skipped':
      return skipped('not_exercised', message, rest);
  }
}

/** If all parts were skipped for one reason, the whole is skipped for it too. */
function commonReason(parts: readonly PartOutcome[]): SkipReason | undefined {
  const [first] = parts;
  const reason = first?.seen.outcome === 'skipped' ? first.seen.reason : undefined;
  const isCommon = parts.every(({ seen }) => seen.outcome === 'skipped' && seen.reason === reason);
  return isCommon && reason !== 'not_measured' ? reason : undefined;
}

const MAX_EVIDENCE = 20;
const MAX_NAMED = 3;
const MAX_MESSAGE = 160;

function named(parts: readonly PartOutcome[]): string {
  const shown = parts
    .slice(0, MAX_NAMED)
    .map(
      ({ at, seen }) =>
        `${at.replace(/^\./, '')}: ${clip(withoutKey(seen.message, at), MAX_MESSAGE)}`,
    );
  const more = parts.length - shown.length;
  return present([...shown, more > 0 ? `${plural(more, 'more part')}` : undefined]).join('; ');
}

/** Removes the name of the check from its message, because the path already has it. */
function withoutKey(message: string, at: string): string {
  const key = /([a-z_]+)(?:\[\d+\])?$/.exec(at)?.[1];
  return key !== undefined && message.startsWith(`${key}: `)
    ? message.slice(key.length + 2)
    : message;
}

/** Counts the parts that held, and the unknown ones, since those may decide. */
export function countText(key: string, truths: readonly Truth[], rule = ''): string {
  const count = (truth: Truth): number => truths.filter((each) => each === truth).length;
  const unknown = count('unknown');
  const open = unknown === 0 ? '' : `, ${unknown} unknown`;
  return `${key}: ${count('held')} of ${truths.length} held${open}${rule === '' ? '' : ` (${rule})`}`;
}

/** The severity that an unknown part could have had. */
const gravityOf = ({ severity, seen }: PartOutcome): Severity => seen.severity ?? severity;

const worst = (parts: readonly PartOutcome[]): Severity | undefined => {
  if (parts.length === 0) return undefined;
  if (parts.some(({ severity }) => severity === 'fail')) return 'fail';
  return 'warn';
};

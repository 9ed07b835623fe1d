import { isObject } from '@agentci/lib/data';
import type { Location } from '@agentci/lib/problems';

/** The location of a constraint. */
export type ConstraintPlace = Location;

/** The location as violations print it. */
export function policyPlace(
  place: { readonly line: number | null; readonly column: number | null } | undefined,
): {
  policy_line: number | null;
  policy_column?: number;
} {
  const { line = null, column = null } = place ?? {};
  return { policy_line: line, policy_column: column !== null ? column : undefined };
}

export type OnViolation = 'block' | 'warn' | 'log';

/** A constraint that a value violates. */
export interface BrokenConstraint {
  /** `address.zip`. Empty for the whole arguments. */
  readonly at: string;
  readonly value: unknown;
  readonly constraint: string;
  readonly message: string;
  readonly place: ConstraintPlace;
  readonly onViolation: OnViolation;
}

export interface ConstraintSink {
  readonly found: (finding: BrokenConstraint) => void;
  /** Reports an undecided constraint. */
  readonly unknown: (at: string, why: string) => void;
}

/** Checks a value and reports to the sink. */
export type ValueCheck = (value: unknown, at: string, sink: ConstraintSink) => void;

/** A compiled schema: its check, and whether it can fail at all. */
export interface Constraint {
  readonly check: ValueCheck;
  readonly decides: boolean;
}

export const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;
export type ValueType = (typeof TYPES)[number];

export function hasType(value: unknown, type: ValueType): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

import { isObject } from '@agentci/lib/data';
import type { Location } from '@agentci/lib/problems';

/** Where a constraint is written. */
export type ConstraintPlace = Location;

/** As violations print it. */
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

/** A constraint that a value does not keep. */
export interface BrokenConstraint {
  /** `address.zip`; empty for the arguments as a whole. */
  readonly at: string;
  readonly value: unknown;
  readonly constraint: string;
  readonly message: string;
  readonly place: ConstraintPlace;
  readonly onViolation: OnViolation;
}

export interface ConstraintSink {
  readonly found: (finding: BrokenConstraint) => void;
  /** Whether the value keeps the constraint could not be told. */
  readonly unknown: (at: string, why: string) => void;
}

/** Holds one value against everything that is asked of it. */
export type ValueCheck = (value: unknown, at: string, sink: ConstraintSink) => void;

/** A compiled schema: what it checks, and whether it can say no at all. */
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

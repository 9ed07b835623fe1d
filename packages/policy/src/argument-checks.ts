import { isObject } from '@agentci/lib/data';
import {
  type Constraint,
  type ConstraintPlace,
  type ConstraintSink,
  hasType,
  type OnViolation,
  type ValueCheck,
  type ValueType,
} from './constraint.ts';
import type { KeywordTest } from './keywords.ts';

/** The enclosing map handles `required` and `required_if`. */
export interface ArgumentSchema extends Constraint {
  readonly required?: ConstraintPlace;
  readonly requiredIf?: {
    readonly place: ConstraintPlace;
    readonly text: string;
    readonly applies: (siblings: Readonly<Record<string, unknown>>) => boolean;
  };
  readonly onViolation: OnViolation;
}

/** The check for undeclared arguments. */
export interface RestCheck {
  readonly decides: boolean;
  readonly isClosed: boolean;
  readonly place?: ConstraintPlace;
  readonly schema?: Constraint;
}

/** Checks a map of values: required members, each member, and the rest. */
export function mapCheck(options: {
  readonly members: ReadonlyMap<string, ArgumentSchema>;
  readonly required: readonly { readonly name: string; readonly place: ConstraintPlace }[];
  readonly rest: RestCheck;
  readonly onViolation: OnViolation;
}): ValueCheck {
  const { members, required, rest, onViolation } = options;
  const list = [...members];
  return (value, at, sink) => {
    if (!isObject(value)) return;
    const prefix = at === '' ? '' : `${at}.`;
    const missing = (
      name: string,
      constraint: string,
      place: ConstraintPlace,
      mode: OnViolation,
    ): void =>
      sink.found({
        at: `${prefix}${name}`,
        value: null,
        constraint,
        message: 'Required argument is missing',
        place,
        onViolation: mode,
      });
    for (const { name, place } of required)
      if (!Object.hasOwn(value, name)) missing(name, 'required', place, onViolation);
    for (const [name, schema] of list) {
      if (Object.hasOwn(value, name)) schema.check(value[name], `${prefix}${name}`, sink);
      else if (schema.required !== undefined)
        missing(name, 'required', schema.required, schema.onViolation);
      else if (schema.requiredIf?.applies(value) === true)
        missing(
          name,
          `required_if: ${schema.requiredIf.text}`,
          schema.requiredIf.place,
          schema.onViolation,
        );
    }
    if (!rest.isClosed && rest.schema === undefined) return;
    for (const name of Object.keys(value)) {
      if (members.has(name)) continue;
      const path = `${prefix}${name}`;
      if (rest.schema !== undefined) rest.schema.check(value[name], path, sink);
      else {
        const message = 'Argument is not in the policy';
        sink.found({
          at: path,
          value: value[name],
          constraint: 'additionalProperties: false',
          message,
          place: rest.place!,
          onViolation,
        });
      }
    }
  };
}

export interface TypeCheck {
  readonly types: readonly ValueType[];
  readonly place: ConstraintPlace;
}

/** A value of the wrong type gets only that finding. Further checks would only repeat it. */
export function joined(
  type: TypeCheck | undefined,
  checks: readonly ValueCheck[],
  onViolation: OnViolation,
): ValueCheck {
  if (type === undefined)
    return (value, at, sink) => {
      for (const check of checks) check(value, at, sink);
    };
  const { types, place } = type;
  const [only] = types;
  const constraint = `type: ${types.length === 1 ? only : `[${types.join(', ')}]`}`;
  const isRight =
    types.length === 1
      ? (value: unknown) => hasType(value, only!)
      : (value: unknown) => types.some((each) => hasType(value, each));
  return (value, at, sink) => {
    if (isRight(value)) for (const check of checks) check(value, at, sink);
    else
      sink.found({
        at,
        value,
        constraint,
        message: 'Value has the wrong type',
        place,
        onViolation,
      });
  };
}

export function keywordCheck(
  test: KeywordTest,
  constraint: string,
  place: ConstraintPlace,
  onViolation: OnViolation,
): ValueCheck {
  return (value: unknown, at: string, sink: ConstraintSink) => {
    const wrong = test(value);
    if (wrong === undefined) return;
    if (typeof wrong === 'string')
      sink.found({ at, value, constraint, message: wrong, place, onViolation });
    else sink.unknown(at, wrong.unknown);
  };
}

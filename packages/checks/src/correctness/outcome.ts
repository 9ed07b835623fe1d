import type { Problem } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { v } from '@agentci/lib/values';
import type { Trace } from '@agentci/trace';
import { isAbove, isBelow } from '../bounds.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { between } from '../wants.ts';
import { listed, number, rounded } from '../words.ts';

const schema = v.strictObject({
  name: v.string(),
  min: v.number().optional(),
  max: v.number().optional(),
  equals: v.union([v.string(), v.number(), v.boolean()]).optional(),
});

interface Bounds {
  readonly name: string;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly equals?: string | number | boolean | undefined;
}
type Outcome = NonNullable<Trace['outcomes']>[number];

export const check = defineCheck({
  layer: 'correctness',
  key: 'outcome',
  severity: 'fail',
  order: 70,
  summary:
    'The reward or score that the recording itself carries must be at least `min`, at most `max`, or equal `equals`.',
  wants: ({ name, equals, ...bounds }) =>
    `The recorded outcome ${name} is ${equals === undefined ? between(bounds) : String(equals)}`,
  failure: {
    why: 'the decision-quality scores are below their bounds',
    help: 'see [decision quality](decision-quality.md)',
  },
  example: { name: 'reward', min: 1 },
  schema,
  inspect: (bounds) => inspectBounds(bounds),
  evaluate: (bounds, { trace }) => {
    const carried = trace.outcomes ?? [];
    const own = carried.filter(({ name }) => name === bounds.name);
    const limit = limitText(bounds);
    if (own.length === 0)
      return unmeasured(
        `outcome ${bounds.name}: not known, ${missing(bounds.name, carried)}; ${limit}`,
      );
    const values = own.map((outcome) => ({ outcome, keeps: keeps(outcome, bounds) }));
    const odd = values.find((value) => value.keeps === undefined);
    const broken = values.find((value) => value.keeps === false);
    const { outcome } = broken ?? odd ?? values[0]!;
    const rest = { value: outcome.value, limit: bounds.equals ?? bounds.min ?? bounds.max };
    const text = `outcome ${bounds.name}: ${show(outcome)}, ${limit}`;
    if (broken !== undefined) return violated(text, rest);
    return odd === undefined
      ? held(text, rest)
      : unmeasured(`${text}; it is not a number`, { limit: rest.limit });
  },
});

function inspectBounds({ min, max, equals }: Bounds): Problem[] {
  if (min === undefined && max === undefined && equals === undefined)
    return [
      {
        severity: 'error',
        code: 'SPEC_CANNOT_FAIL',
        message: 'outcome has no bound, so it cannot fail',
        hint: 'add min, max or equals, e.g. outcome: {name: reward, min: 1}',
      },
    ];
  if (min !== undefined && max !== undefined && min > max)
    return [
      {
        severity: 'error',
        code: 'SPEC_CONTRADICTION',
        message: `min ${min} is above max ${max}`,
        path: ['min'],
      },
    ];
  return [];
}

/** True counts as 1 and false as 0. Undefined if a numeric bound meets a text. */
function keeps({ value }: Outcome, { min, max, equals }: Bounds): boolean | undefined {
  if (equals !== undefined && !isSame(value, equals)) return false;
  if (min === undefined && max === undefined) return true;
  const amount = asNumber(value);
  if (amount === undefined) return undefined;
  return (
    !(min !== undefined && isBelow(amount, min)) && !(max !== undefined && isAbove(amount, max))
  );
}

const isSame = (a: Outcome['value'], b: Outcome['value']): boolean =>
  a === b || (asNumber(a) !== undefined && asNumber(a) === asNumber(b));

const asNumber = (value: Outcome['value']): number | undefined => {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number') return value;
  return undefined;
};

const show = ({ value, by }: Outcome): string =>
  `${typeof value === 'number' ? number(rounded(value)) : String(value).slice(0, 60)}${by === undefined ? '' : ` by ${by}`}`;

function limitText({ min, max, equals }: Bounds): string {
  const parts = [
    equals === undefined ? undefined : `must be ${equals}`,
    min === undefined ? undefined : `minimum ${number(min)}`,
    max === undefined ? undefined : `maximum ${number(max)}`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

function missing(name: string, carried: readonly Outcome[]): string {
  if (carried.length === 0) return 'the recording carries no outcome';
  const names = [...new Set(carried.map((outcome) => outcome.name))];
  const meant = didYouMean(name, names);
  return `the recording carries ${listed(names)}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

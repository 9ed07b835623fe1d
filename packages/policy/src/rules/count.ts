import { countVerdict, isNever, tooMany } from './count-verdict.ts';
import { defineRule, times } from './rule.ts';

export const rule = defineRule({
  type: 'count',
  summary:
    'The tool must be called at least `min` and at most `max` times, or `exact` times, which overrules both.',
  fields: {
    tool: { kind: 'selector', required: true },
    min: { kind: 'count', least: 0 },
    max: { kind: 'count', least: 0 },
    exact: { kind: 'count', least: 0 },
  },
  inspect: ({ min, max, exact }) => {
    if (exact !== undefined) return undefined;
    if (max === undefined && (min ?? 0) === 0) return 'it needs "max", "exact", or a "min" above 0';
    return min !== undefined && max !== undefined && min > max
      ? `no count is at least ${min} and at most ${max}`
      : undefined;
  },
  subjects: ['tool'],
  operands: ({ tool, min, max, exact }) => {
    if (exact !== undefined) return `${tool.label}=${exact}`;
    return `${tool.label}${min === undefined ? '' : `>=${min}`}${max === undefined ? '' : `<=${max}`}`;
  },
  evaluate: ({ tool, min, max, exact }, run) =>
    countVerdict(tool, exact === undefined ? { min, max } : { min: exact, max: exact }, run),
  breaks: ({ tool, max, exact }, calls, at) => tooMany(tool, exact ?? max, calls, at),
  forbids: ({ tool, max, exact }, isMeant) => isNever(tool, exact ?? max, isMeant),
  open: ({ tool, min, exact }) => {
    const least = exact ?? min ?? 0;
    return least === 0 ? undefined : `${tool.label} to be called at least ${times(least)}`;
  },
});

import type { Condition } from '../condition-type.ts';
import { ANY_CALL } from '../selectors.ts';
import { callNumbers, defineRule, type RuleField, type RuleValues } from './rule.ts';

type Fields = Readonly<Record<string, RuleField>>;

interface PerCallRule<F extends Fields> {
  readonly type: string;
  readonly summary: string;
  /** Fields in addition to the common `tool`. */
  readonly fields: F;
  readonly inspect?: (values: RuleValues<F>) => string | undefined;
  readonly operands: (values: RuleValues<F>) => string;
  /** The expectation on each call, in words. */
  readonly expected: (values: RuleValues<F>) => string;
  readonly hits: (values: RuleValues<F>) => Condition;
}

/** Defines a rule that judges each call of a tool separately. */
export function definePerCallRule<const F extends Fields>(rule: PerCallRule<F>) {
  return defineRule<F & { tool: { kind: 'selector' } }>({
    type: rule.type,
    summary: rule.summary,
    fields: { ...rule.fields, tool: { kind: 'selector' } },
    isCertain: true,
    subjects: ['tool'] as never,
    hits: (values) => rule.hits(values as never),
    inspect: (values) => rule.inspect?.(values as never),
    operands: (values) => {
      const { tool } = values as { tool?: { label: string } };
      const operands = rule.operands(values as never);
      return tool === undefined ? operands : `${tool.label}: ${operands}`;
    },
    evaluate: (values, { table }) => {
      const { tool = ANY_CALL, hit } = values as RuleValues<{ tool: { kind: 'selector' } }>;
      const expected = rule.expected(values as never);
      const broken = table.indices(hit!);
      if (broken.length > 0)
        return {
          outcome: 'violated',
          spanned: broken,
          expected,
          actual: `it is not so for ${callNumbers(broken)}`,
          brokenBy: broken,
        };
      const looked = table.indices(tool);
      if (looked.length === 0)
        return { outcome: 'not_exercised', spanned: [], expected, actual: 'no call to look at' };
      return {
        outcome: 'held',
        spanned: looked,
        expected,
        actual: `so it is for ${callNumbers(looked)}`,
      };
    },
    breaks: (values, calls, at) =>
      calls.isMeant(values.hit!, at) ? `expected ${rule.expected(values as never)}` : undefined,
  });
}

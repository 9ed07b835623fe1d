import { compileExpression } from '@agentci/lib/cel';
import type { Problem } from '@agentci/lib/problems';
import { v } from '@agentci/lib/values';
import { type CheckOutcome, defineCheck, held, unmeasured, violated } from '../check.ts';
import { EXPR_VARIABLES, expressionValues } from '../expr-values.ts';
import { emptyListIssue } from '../issues.ts';
import { clip, listed, plural } from '../words.ts';

const text = v.string().regex(/\S/);

export const check = defineCheck({
  layer: 'every',
  key: 'expr',
  severity: 'layer',
  order: 930,
  summary: 'The CEL expression over answer, calls, trace, query, vars and output must be true.',
  wants: (expressions) =>
    `An expression that is true: ${listed(Array.isArray(expressions) ? expressions : [expressions])}`,
  failure: {
    why: 'the expression is false',
    help: 'try its parts one by one with `agentci eval --run latest`, which runs no agent',
  },
  example: [
    'output != null && has(output.total) && output.total > 0',
    'answer.size() < 2000 && !answer.matches("(?i)sorry")',
  ],
  schema: v.union([text, v.array(text)]),
  inspect: (written) =>
    Array.isArray(written) && written.length === 0 ? [emptyListIssue('expr')] : problemsIn(written),
  evaluate: (written, context) => {
    const texts = Array.isArray(written) ? written : [written];
    const values = expressionValues(context);
    const seen = texts.map((one) => evaluate(one, values));
    const order: readonly CheckOutcome['outcome'][] = ['violated', 'unmeasured'];
    const item = order
      .map((outcome) => seen.findIndex((one) => one.outcome === outcome))
      .find((at) => at >= 0);
    const limit = texts.length;
    const value = seen.filter(({ outcome }) => outcome === 'held').length;
    if (item === undefined)
      return held(limit === 1 ? seen[0]!.message : `${plural(limit, 'expression')} are true`, {
        value,
        limit,
      });
    const { outcome, message, severity } = seen[item]!;
    const rest = { limit, item: Array.isArray(written) ? item : undefined, severity };
    const broken = seen.find((one) => one.outcome === 'unmeasured' && one.severity === 'fail');
    return outcome === 'violated'
      ? violated(message, { ...rest, value, graver: broken })
      : unmeasured(message, rest);
  },
});

function problemsIn(written: string | readonly string[]): Problem[] {
  const texts =
    typeof written === 'string'
      ? [{ text: written, path: [] }]
      : written.map((one, i) => ({ text: one, path: [i] }));
  return texts.flatMap(({ text: one, path }) => {
    const compiled = compileExpression(one, EXPR_VARIABLES);
    if (compiled.ok) return compiled.program.paths.size > 0 ? [] : [constantIssue(one, path)];
    const { message, offset } = compiled.problem;
    const hint = 'expressions are CEL over answer, calls, trace, query, vars and output';
    return [{ code: 'SPEC_BAD_EXPR', message: `expr: ${message}`, hint, path, offset }];
  });
}

/** Without a variable the result is the same for every run. */
const constantIssue = (text: string, path: readonly number[]): Problem => ({
  code: 'SPEC_CANNOT_FAIL',
  message: `expr: ${clip(text)} does not look at the run, so it is the same for every answer`,
  hint: 'use answer, calls, trace, query, vars or output',
  path: [...path],
});

function evaluate(text: string, values: ReturnType<typeof expressionValues>): CheckOutcome {
  const shown = clip(text.trim().replace(/\s+/g, ' '));
  // A problem of the expression itself is an error in every layer.
  const broken = (why: string): CheckOutcome =>
    unmeasured(`expr: ${shown}: ${why}`, { severity: 'fail' });
  const compiled = compileExpression(text, EXPR_VARIABLES);
  if (!compiled.ok) return broken(compiled.problem.message);
  const result = compiled.program.run(values);
  if (result.kind === 'unknown') return unmeasured(`expr: ${shown}: not known, ${result.what}`);
  if (result.kind === 'error') return broken(result.message);
  if (typeof result.value !== 'boolean')
    return broken(`it gives ${typeof result.value}, not true or false`);
  return result.value ? held(`expr: ${shown} is true`) : violated(`expr: ${shown} is false`);
}

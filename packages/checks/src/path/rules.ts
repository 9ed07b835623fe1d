import type { Problem } from '@agentci/lib/problems';
import { v } from '@agentci/lib/values';
import { compileRules, evaluateRules, isCertain, runFactsOf, shortRecords } from '@agentci/policy';
import type { RuleRecord, RulesResult } from '@agentci/results';
import { toolCalls } from '@agentci/trace';
import { callEvidence, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, held, skipped, unmeasured, violated } from '../check.ts';
import { emptyListIssue } from '../issues.ts';
import { listed, plural, shortJson } from '../words.ts';

/** A rule in its own words: `before: first check, then refund`. */
function ruleText({ type, ...fields }: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(fields)
    .filter(([key]) => key !== 'id' && key !== 'description')
    .map(([key, value]) => {
      if (Array.isArray(value)) return `${key} ${value.join(', ')}`;
      return `${key} ${typeof value === 'object' ? shortJson(value) : String(value)}`;
    });
  return `${String(type)}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}

export const check = defineCheck({
  layer: 'path',
  key: 'rules',
  severity: 'fail',
  isFixed: true,
  order: 120,
  summary: 'Sequence rules on tool calls. All must hold.',
  wants: (rules) => `The rules ${listed(rules.map(ruleText))}`,
  failure: {
    why: 'a sequence rule was violated',
    help: 'the message names the rule and the calls. See [policies](../policies/README.md)',
  },
  example: [
    // biome-ignore lint/suspicious/noThenProperty: `then` is the rule's word; the object is never awaited.
    { type: 'before', first: 'lookup_order', then: 'refund' },
    { type: 'max_calls', tool: 'refund', max: 1 },
    { type: 'blocklist', tools: ['admin_*'] },
  ],
  schema: v.array(v.looseObject({ type: v.string().regex(/\S/) })),
  inspect: (rules) => (rules.length === 0 ? [emptyListIssue('rules')] : ruleIssues(rules)),
  evaluate: (rules, { trace, query }) => {
    if (trace.captured.toolCalls === 'none') return unmeasured(`rules: not known, ${NOT_CAPTURED}`);
    const calls = toolCalls(trace);
    const isCutOff = trace.status === 'incomplete';
    const result = evaluateRules({
      calls,
      rules,
      complete: !isCutOff,
      run: runFactsOf(trace, query?.query),
    });
    const limit = rules.length;
    const value = result.rules.filter(({ outcome }) => outcome === 'held').length;
    const details = { rules: shortRecords(result.rules) };
    // An interrupted run is evaluated as partial. Calls missing in between may change any open
    // answer.
    const hasGaps = trace.captured.toolCalls === 'partial' && !isCutOff;
    const isBroken = ({ outcome, unknown, type, per_call }: RuleRecord): boolean =>
      outcome === 'violated' &&
      (unknown === undefined || per_call === true) &&
      (!hasGaps || isCertain(type));
    const bad = result.rules.findIndex(isBroken);
    const text = summaryOf(result);
    if (bad >= 0) {
      const evidence = callEvidence(
        calls,
        result.rules.filter(isBroken).flatMap(({ spanned }) => spanned),
      );
      return violated(text, { value, limit, evidence, details, item: bad });
    }
    if (result.status === 'error')
      return unmeasured(`${text}; ${result.reason}`, { limit, details });
    if (hasGaps)
      return unmeasured(`${text}, but not all tool calls were captured`, { limit, details });
    if (result.exercised === 'not_exercised')
      return skipped('not_exercised', text, { limit, details });
    return held(text, { value, limit, details, evidence: [] });
  },
});

function summaryOf({ rules }: RulesResult): string {
  const count = (wanted: string): number =>
    rules.filter(({ outcome }) => outcome === wanted).length;
  const parts = [`${count('held')} of ${plural(rules.length, 'rule')} held`];
  if (count('not_exercised') > 0) parts.push(`${count('not_exercised')} not exercised`);
  const broken = rules.filter(({ outcome }) => outcome === 'violated');
  if (broken.length > 0)
    parts.push(
      `${broken.length} violated: ${broken.map(({ rule_id, actual }) => `${rule_id} (${actual})`).join('; ')}`,
    );
  return `rules: ${parts.join(', ')}`;
}

/** The findings of a policy file, under the codes of a spec. */
function ruleIssues(rules: readonly unknown[]): Problem[] {
  return compileRules(rules).issues.map((issue) => ({
    ...issue,
    code: issue.code.replace(/^POLICY_/, 'SPEC_'),
  }));
}

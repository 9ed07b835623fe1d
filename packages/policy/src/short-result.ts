import type { PolicyResult, RuleRecord } from '@agentci/results';

/** Enough to read; a report of thousands of calls must not repeat all their numbers for every rule. */
const MAX_LISTED = 100;

/** Records with at most a hundred call numbers each. */
export const shortRecords = (records: readonly RuleRecord[]): RuleRecord[] =>
  records.map((record) => ({
    ...record,
    spanned: record.spanned.slice(0, MAX_LISTED),
    broken_by:
      record.broken_by === undefined ? record.broken_by : record.broken_by.slice(0, MAX_LISTED),
  }));

/** A result as reports keep it: what is cut is counted elsewhere in it. */
export function shortResult(result: PolicyResult): PolicyResult {
  const violations = result.violations.slice(0, MAX_LISTED);
  switch (result.metric) {
    case 'args_valid':
      return {
        ...result,
        violations,
        logged: result.logged.slice(0, MAX_LISTED),
        undecided:
          result.undecided === undefined ? result.undecided : result.undecided.slice(0, MAX_LISTED),
      };
    case 'sequence_valid':
      return { ...result, violations, rules: shortRecords(result.rules) };
    case 'tool_blocklist':
      return { ...result, violations, tools: result.tools.slice(0, MAX_LISTED) };
  }
}

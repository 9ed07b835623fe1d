import type { PolicyResult, RuleRecord } from '@agentci/results';

/**
 * Enough for a reader. A report on thousands of calls must not repeat all numbers for every rule.
 */
const MAX_LISTED = 100;

/** Limits each record to a hundred call numbers. */
export const shortRecords = (records: readonly RuleRecord[]): RuleRecord[] =>
  records.map((record) => ({
    ...record,
    spanned: record.spanned.slice(0, MAX_LISTED),
    broken_by:
      record.broken_by === undefined ? record.broken_by : record.broken_by.slice(0, MAX_LISTED),
  }));

/** The stored form of a result. The counts stay complete. */
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

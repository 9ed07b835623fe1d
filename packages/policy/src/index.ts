export { entryAt, mapAt, scalarAt } from './assay-form.ts';
export type { PolicyCall } from './call.ts';
export { CallTable } from './call-table.ts';
export { type CompiledRule, compileRules, isCertain, NO_ALIASES } from './compile-rules.ts';
export { PolicyCoverage } from './coverage.ts';
export { definitionsIn, type ListedTool } from './definitions/pinned-tools.ts';
export {
  type EvaluateArgumentsInput,
  evaluateArguments,
  filterProblem,
} from './evaluate-arguments.ts';
export { type EvaluateBlocklistInput, evaluateBlocklist } from './evaluate-blocklist.ts';
export { type EvaluateRulesInput, evaluatePrepared, evaluateRules } from './evaluate-rules.ts';
export { testExample } from './examples.ts';
export { type ExplainInput, explainCalls } from './explain.ts';
export { explainAudit } from './explain-audit.ts';
export { explainHtml, explainMarkdown, explainTerminal } from './explain-text.ts';
export { PolicyLearner } from './generate.ts';
export { LiveJudge, type LiveVerdict, openRules } from './live-judge.ts';
export type { CallOutcome } from './live-table.ts';
export {
  type ParsedPolicy,
  type ParsePolicyOptions,
  parsePolicy,
  parsePolicyNode,
} from './parse-policy.ts';
export { type NamePattern, namesWithServer, type Policy } from './policy.ts';
export { ROOT_KEYS } from './policy-keys.ts';
export { type AuditSession, isAudit, readAudit } from './read-audit.ts';
export type { ReadPolicyFile } from './references.ts';
export { RULES } from './rules/index.gen.ts';
export { otherForms, runFactsOf } from './run-facts.ts';
export type { Aliases, Selector } from './selectors.ts';
export { shortRecords, shortResult } from './short-result.ts';
export { timed } from './timed.ts';
export { verdictLines } from './verdict-text.ts';

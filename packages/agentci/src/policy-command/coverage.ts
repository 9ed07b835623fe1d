import { present } from '@agentci/lib/data';
import { escapeTerminalLine } from '@agentci/lib/text';
import { PolicyCoverage, runFactsOf } from '@agentci/policy';
import type { CoverageReport } from '@agentci/results';
import type { Io } from '../cli/io.ts';
import { type PolicyOptions, type PolicyReport, readPolicy } from './load-policy.ts';
import { tracesOf } from './policy-traces.ts';

export async function measureCoverage(options: PolicyOptions, io: Io): Promise<PolicyReport> {
  const policy = await readPolicy(options, io);
  const sum = new PolicyCoverage(policy);
  sum.addExamples();
  // The policy's examples may be the only input.
  if (options.traces !== undefined || policy.examples.length === 0)
    for await (const { trace, calls } of tracesOf(options, io))
      sum.add(calls, { complete: trace.status !== 'incomplete', run: runFactsOf(trace) });
  const report = sum.report(options.minCoverage);
  const text = options.json ? `${JSON.stringify(report, null, 2)}\n` : coverageText(report);
  return { text, code: report.meets ? 0 : 1 };
}

function coverageText(report: CoverageReport): string {
  const { tools, rules, tool_pct, rule_pct, overall_pct, threshold, meets } = report;
  const list = (title: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`  ${title}: ${names.join(', ')}`];
  const part = (name: string, pct: number | null, seen: number, all: number): string[] =>
    pct === null ? [] : [`  ${name}: ${pct} % (${seen} of ${all})`];
  const lines = present([
    `${report.policy}: ${overall_pct} % covered by ${present([report.traces > 0 || report.examples === 0 ? `${report.traces} traces` : undefined, report.examples > 0 ? `${report.examples} examples` : undefined]).join(' and ')} with ${report.calls} calls`,
    ...part('tools seen', tool_pct, tools.seen.length, tools.seen.length + tools.not_seen.length),
    ...list('tools never called', tools.not_seen),
    ...part(
      'rules exercised',
      rule_pct,
      rules.exercised.length,
      rules.exercised.length + rules.not_exercised.length,
    ),
    ...list('rules never exercised', rules.not_exercised),
    ...list('denied tools never tried', report.high_risk_gaps),
    ...list('tools the policy does not know', report.unexpected_tools),
    threshold === null ? undefined : `at least ${threshold} %: ${meets ? 'ok' : 'not reached'}`,
  ]);
  return lines.map((line) => `${escapeTerminalLine(line)}\n`).join('');
}

import type { ExampleReport, ExplainReport } from '@agentci/results';
import { explainCalls } from './explain.ts';
import type { Policy, PolicyExample } from './policy.ts';

/** Judges an example by its policy. If the policy cannot decide, neither can the test. */
export function testExample(example: PolicyExample, policy: Policy): ExampleReport {
  const report = explainCalls({ policy, calls: example.calls, run: example.run });
  const causes = causesIn(report);
  const isDenied = report.blocked > 0 || report.at_end.length > 0;
  const rules = [...new Set(causes.map(({ rule }) => rule))];
  const isByRule = example.rule === undefined || rules.includes(example.rule);
  const isUnknown = !isDenied && report.unknown > 0;
  const isMet = example.expect === 'deny' ? isDenied && isByRule : !isDenied;
  let got: 'unknown' | 'deny' | 'allow';
  if (isDenied) got = 'deny';
  else if (isUnknown) got = 'unknown';
  else got = 'allow';
  let status: 'error' | 'pass' | 'fail';
  if (isUnknown) status = 'error';
  else if (isMet) status = 'pass';
  else status = 'fail';
  return {
    name: example.name,
    line: example.place.line,
    expect: example.expect,
    rule: example.rule,
    got,
    status,
    rules,
    reasons: causes.map(({ rule, reason }) => `${rule}: ${reason}`),
  };
}

const causesIn = ({ calls, at_end }: ExplainReport) => [
  ...calls
    .filter(({ verdict }) => verdict === 'blocked' || verdict === 'unknown')
    .flatMap(({ by }) => by),
  ...at_end,
];

import type { PolicyResult, PolicyViolation } from '@agentci/results';

const MAX_SHOWN = 20;

/**
 * A violated metric in the words of the Assay documentation, one line per item. Empty if it holds.
 */
export function verdictLines(result: PolicyResult): string[] {
  if (result.status !== 'fail' && result.status !== 'warn') return [];
  const lines = [`${result.status === 'fail' ? '❌ FAIL' : '⚠️ WARN'}: ${result.metric}`, ''];
  const blocks = result.metric === 'sequence_valid' ? ruleBlocks(result) : violationBlocks(result);
  for (const block of blocks.slice(0, MAX_SHOWN))
    lines.push(...block.map((line) => `   ${line}`), '');
  if (blocks.length > MAX_SHOWN) lines.push(`   and ${blocks.length - MAX_SHOWN} more`, '');
  if (result.metric === 'tool_blocklist') lines.push(`   Calls found: ${result.calls_found}`, '');
  return lines;
}

function ruleBlocks(result: Extract<PolicyResult, { metric: 'sequence_valid' }>): string[][] {
  return result.rules
    .filter(({ outcome }) => outcome === 'violated')
    .map(({ type, expected, actual, trace }) => [
      `Rule: ${type}`,
      `Expected: ${expected}`,
      `Actual: ${actual}`,
      ...traceLine(trace),
    ]);
}

function violationBlocks(result: Exclude<PolicyResult, { metric: 'sequence_valid' }>): string[][] {
  return result.violations.map((violation) => [
    ...(result.metric === 'tool_blocklist' ? blockedLines(violation) : argumentLines(violation)),
    ...traceLine(violation.trace),
  ]);
}

const traceLine = (trace: string | undefined): string[] =>
  trace === undefined ? [] : [`Trace: ${trace}`];

const blockedLines = ({ tool, constraint, message }: PolicyViolation): string[] => [
  `Violation: ${message}`,
  `Tool: ${tool}`,
  `Policy: Blocklist includes '${constraint.slice(constraint.indexOf(': ') + 2)}'`,
];

function argumentLines({ tool, argument, value, constraint, message }: PolicyViolation): string[] {
  if (argument === null) return [`Tool: ${tool}`, `Violation: ${message} (${constraint})`];
  const shown = constraint.startsWith('required') ? 'missing' : JSON.stringify(value);
  return [`Tool: ${tool}`, `Argument: ${argument} = ${shown}`, `Violation: ${message}`];
}

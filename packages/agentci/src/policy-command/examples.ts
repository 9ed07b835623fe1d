import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine } from '@agentci/lib/text';
import { testExample } from '@agentci/policy';
import type { ExampleReport } from '@agentci/results';
import type { Io } from '../cli/io.ts';
import { type PolicyOptions, type PolicyReport, readPolicy } from './load-policy.ts';

/** Tests a policy with its own examples. */
export async function testExamples(options: PolicyOptions, io: Io): Promise<PolicyReport> {
  const file = options.policy ?? options.traces;
  const policy = await readPolicy({ ...options, policy: file ?? options.policy }, io);
  if (policy.examples.length === 0)
    throw new UserError(
      'NOTHING_FOUND',
      `${policy.file} has no "examples", so nothing was tested`,
      {
        hint: 'add examples: [{calls: [{tool: refund, args: {amount: 900}}], expect: deny}]',
      },
    );
  const reports = policy.examples.map((example) => testExample(example, policy));
  const passed = reports.filter(({ status }) => status === 'pass').length;
  const counts = { examples: reports.length, passed };
  const text = options.json
    ? `${JSON.stringify({ schema: 'agentci.policy-test/1', policy: policy.file, ...counts, results: reports }, null, 2)}\n`
    : [
        ...reports.map((report) => exampleText(report, policy.file)),
        `${passed} of ${reports.length} examples passed`,
      ]
        .map((line) => `${line}\n`)
        .join('');
  const hasFailed = reports.some(({ status }) => status === 'fail');
  if (hasFailed) return { text, code: 1 };
  return { text, code: passed === reports.length ? 0 : 2 };
}

function exampleText(
  { name, line, expect, rule, got, status, reasons }: ExampleReport,
  file: string,
): string {
  const title = escapeTerminalLine(`${status.padEnd(5)} ${name} (${file}:${line})`);
  if (status === 'pass') return title;
  const wanted = rule === undefined ? expect : `${expect} by ${rule}`;
  const found = got === 'unknown' ? 'could not tell' : got;
  const why = reasons.slice(0, 3).map((reason) => `\n        ${escapeTerminalLine(reason)}`);
  return `${title}\n      expected ${escapeTerminalLine(wanted)}, got ${found}${why.join('')}`;
}

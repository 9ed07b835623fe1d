import type { TraceProblem } from '@agentci/formats';
import { escapeTerminalLine } from '@agentci/lib/text';
import type { Capability } from '@agentci/trace';
import type { ImportSummary } from './summarize-traces.ts';

const WORDS: Readonly<Record<Capability, string>> = {
  toolCalls: 'tool calls',
  toolArgs: 'arguments of tools',
  toolResults: 'results of tools',
  toolErrors: 'whether a tool failed',
  llmCalls: 'model calls',
  prompts: 'prompts',
  usage: 'tokens',
  cost: 'cost',
  timing: 'times',
  agents: 'agents',
  handoffs: 'handoffs',
  messages: 'messages between agents',
  retrieval: 'retrieved documents',
  final: 'the answer',
};

const MAX_LISTED = 10;

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * Describes the result of an import for people. Names from recordings are untrusted, so they are
 * escaped.
 */
export function describeImport(found: {
  readonly summaries: readonly ImportSummary[];
  readonly problems: readonly TraceProblem[];
  readonly files: readonly string[];
  readonly left: readonly { readonly id: string; readonly why: string }[];
  readonly notes: readonly string[];
  readonly isDry: boolean;
}): string {
  const lines = found.summaries.flatMap(describe);
  for (const problem of found.problems.slice(0, MAX_LISTED)) {
    const place = [problem.file, problem.line].filter((part) => part !== undefined).join(':');
    lines.push(
      `  not read  ${escapeTerminalLine(place)} ${problem.code}: ${escapeTerminalLine(problem.message)}`,
    );
  }
  if (found.problems.length > MAX_LISTED)
    lines.push(`  not read  and ${found.problems.length - MAX_LISTED} more`);
  for (const { id, why } of found.left.slice(0, MAX_LISTED))
    lines.push(`  no test   ${escapeTerminalLine(id)}: ${why}`);
  if (found.left.length > MAX_LISTED)
    lines.push(`  no test   and ${found.left.length - MAX_LISTED} more`);
  for (const note of found.notes.slice(0, MAX_LISTED))
    lines.push(`  note      ${escapeTerminalLine(note)}`);
  for (const file of found.files)
    lines.push(`${found.isDry ? 'would write' : 'wrote'} ${escapeTerminalLine(file)}`);
  const spec = found.files.find((file) => /\.ya?ml$/.test(file));
  if (spec !== undefined && !found.isDry)
    lines.push(`next: agentci test -c ${escapeTerminalLine(spec)}`);
  return `${lines.join('\n')}\n`;
}

function describe(summary: ImportSummary): string[] {
  const { traces, failures, dialects } = summary;
  const names = (list: readonly string[]): string =>
    list.length === 0
      ? ''
      : `: ${list.slice(0, MAX_LISTED).map(escapeTerminalLine).join(', ')}${list.length > MAX_LISTED ? ' …' : ''}`;
  const rows: [string, string][] = [
    ['traces', `${traces}${failures === 0 ? '' : `, ${failures} of them failed`}`],
    ['tools', `${counted(summary.tool_calls, 'call')}${names(summary.tools)}`],
    [
      'models',
      `${counted(summary.llm_calls, 'call')}, ${summary.tokens === null ? 'tokens not captured' : counted(summary.tokens, 'token')}`,
    ],
    [
      'agents',
      `${summary.agents.length}${names(summary.agents)}${summary.handoffs === 0 ? '' : `; ${counted(summary.handoffs, 'handoff')}`}`,
    ],
  ];
  const lacks = summary.not_captured.map(({ what, traces: count }) =>
    count === traces ? WORDS[what] : `${WORDS[what]} (${count} of ${traces})`,
  );
  if (lacks.length > 0) rows.push(['missing', lacks.join(', ')]);
  for (const { code, message, traces: count } of summary.warnings)
    rows.push([
      'warning',
      `${code}: ${escapeTerminalLine(message)}${count > 1 ? ` (${count} times)` : ''}`,
    ]);
  return [
    `${summary.format}${dialects.length === 0 ? '' : ` (${dialects.join(', ')})`}`,
    ...rows.map(([label, text]) => `  ${label.padEnd(9)} ${text}`),
  ];
}

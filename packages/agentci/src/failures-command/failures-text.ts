import { andMore, clip, escapeTerminalLine, plural } from '@agentci/lib/text';
import { groupCount } from '@agentci/reporters';
import type { FailureGroup, RunResult } from '@agentci/results';

const MAX_QUERIES = 8;

const MAX_EXAMPLE = 200;

export const MAX_RERUN = 20;

/** A failure group with the analysis of this command. */
export interface AnalyzedGroup extends FailureGroup {
  readonly since: 'new' | 'known';
  readonly divergence?: string;
  readonly rerun: string;
}

export const failuresJson = ({ run, before, groups, gone, notRun }: GroupedFailures) => ({
  schema: 'agentci.failures/1',
  run: run.run_id,
  before,
  groups,
  gone,
  not_run: notRun,
});

export interface GroupedFailures {
  readonly run: RunResult;
  readonly before: string | undefined;
  readonly groups: readonly AnalyzedGroup[];
  readonly gone: readonly FailureGroup[];
  readonly notRun: readonly FailureGroup[];
}

export function failuresText({ run, before, groups, gone, notRun }: GroupedFailures): string {
  const failures = run.summary.failed + run.summary.errors;
  const found =
    groups.length === 0
      ? 'nothing failed'
      : `${plural(failures, 'failure')} in ${plural(groups.length, 'group')}`;
  const lines = [`run ${run.run_id}: ${found}`];
  for (const group of groups) {
    const age = before === undefined ? '' : `  ${group.since}`;
    lines.push('', `${group.signature}  ${groupCount(group)}  ${group.check}${age}`);
    if (group.title !== group.example) lines.push(`  ${clip(group.title, MAX_EXAMPLE)}`);
    const shown = group.title === group.example ? group.examples.slice(0, 1) : group.examples;
    for (const { query, message } of shown)
      lines.push(`  for example ${query}: ${clip(message, MAX_EXAMPLE)}`);
    if (group.queries.length > 1) lines.push(`  queries: ${andMore(group.queries, MAX_QUERIES)}`);
    if (group.divergence !== undefined) lines.push(`  first difference: ${group.divergence}`);
    const all = group.queries.length > MAX_RERUN ? '  (everything that failed)' : '';
    lines.push(`  run again: ${group.rerun}${all}`);
  }
  lines.push(
    ...listed(`gone since ${before}`, gone),
    ...listed('not all run this time, so not known', notRun),
  );
  return `${lines.map(escapeTerminalLine).join('\n')}\n`;
}

function listed(title: string, groups: readonly FailureGroup[]): string[] {
  if (groups.length === 0) return [];
  const lines = groups.map(
    (group) =>
      `  ${group.signature}  ${groupCount(group)}  ${group.check}: ${clip(group.example, MAX_EXAMPLE)}`,
  );
  return ['', `${title}:`, ...lines];
}

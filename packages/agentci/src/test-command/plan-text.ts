import { formatUsd } from '@agentci/lib/numbers';
import { escapeTerminalLine, formatCount, plural } from '@agentci/lib/text';
import { caseText } from '@agentci/results';
import type { RunPlan } from '@agentci/run';

/** Beyond this a list is no longer read; --json has all. */
const MAX_LISTED = 200;
const MAX_QUERY = 80;

/** What a run would do, for people. */
export function planText({ agent, spec, summary, cases }: RunPlan): string {
  const lines = cases.slice(0, MAX_LISTED).map((each) => {
    const { query, runs, skip } = each;
    const text = query.replace(/\s+/g, ' ').trim();
    const shown = text.length > MAX_QUERY ? `${text.slice(0, MAX_QUERY - 1)}…` : text;
    let times: string;
    if (skip !== undefined) times = `  (skipped: ${skip})`;
    else if (runs > 1) times = `  × ${runs}`;
    else times = '';
    return escapeTerminalLine(`  ${caseText(each)}  ${shown}${times}`);
  });
  if (cases.length > MAX_LISTED)
    lines.push(`  and ${formatCount(cases.length - MAX_LISTED)} more (--json lists all)`);
  const { queries, cells, skipped, runs, agent_calls, judge_calls } = summary;
  const cellText = cells > 0 ? ` in ${plural(cells, 'cell')}` : '';
  const skippedText = skipped > 0 ? `, ${formatCount(skipped)} skipped` : '';
  return [
    `${escapeTerminalLine(agent)} · ${escapeTerminalLine(spec)}`,
    ...lines,
    '',
    `would run: ${plural(queries, 'query', 'queries')}${cellText}, ${plural(runs, 'run')} in all${skippedText}`,
    `agent: ${plural(agent_calls, 'call')}, ${agentCost(summary)}`,
    `judge: ${judge_calls === 0 ? 'no calls' : `at most ${plural(judge_calls, 'call')}, ${judgeCost(summary)}`}`,
    'nothing was run (--dry-run)',
    '',
  ].join('\n');
}

function agentCost({
  agent_calls,
  runs,
  cost_usd,
  guessed_runs,
  from,
}: RunPlan['summary']): string {
  if (agent_calls === 0)
    return runs === 0 ? 'nothing is left to run' : 'recordings are judged instead';
  if (cost_usd === null) return 'cost not known: no earlier run of this spec says it';
  const guessed = guessed_runs === 0 ? '' : `, ${plural(guessed_runs, 'run')} taken as average`;
  return `about ${formatUsd(cost_usd)} by run ${from}${guessed}`;
}

const judgeCost = ({ judge_cost_usd, from }: RunPlan['summary']): string =>
  judge_cost_usd === null ? 'cost not known' : `about ${formatUsd(judge_cost_usd)} by run ${from}`;

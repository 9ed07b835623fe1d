import { formatUsd } from '@agentci/lib/numbers';
import { escapeTerminalLine, formatCount, plural } from '@agentci/lib/text';
import { caseText, type RunResult } from '@agentci/results';
import {
  isDamage,
  listRuns,
  queriesOfShard,
  type RunOptions,
  type RunPlan,
  readRun,
  selectedQueries,
} from '@agentci/run';
import { knownCosts, planRun } from '@agentci/run/plan-run';
import type { Io } from '../cli/io.ts';
import { isRunOf } from '../stored-runs/spec-folders.ts';
import type { TestOptions } from './test-options.ts';

/** Maximum length of a readable list. --json prints all. */
const MAX_LISTED = 200;
const MAX_QUERY = 80;

/** Maximum number of runs read for the cost of queries. */
const MAX_PRICED = 20;

/** A stored run. Undefined if damaged. */
function readableRun(root: string, id: string): RunResult | undefined {
  try {
    return readRun(root, id);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** Prints the plan of a run without running anything. */
export function printPlan(
  options: TestOptions,
  { run, root, io }: { run: RunOptions; root: string; io: Io },
): number {
  const queries = queriesOfShard(selectedQueries(run), run.shard);
  // The newest run may have no cost, for example over recordings, or only of a few queries.
  const asked = queries.filter(({ skip }) => skip === undefined);
  let best: { readonly run: RunResult; readonly known: number } | undefined;
  for (const { id } of listRuns(root)
    .filter((stored) => stored.finished && isRunOf(run.suite, stored))
    .slice(0, MAX_PRICED)) {
    const earlier = readableRun(root, id);
    if (earlier === undefined) continue;
    const known = knownCosts(earlier, asked);
    if (best === undefined || known > best.known) best = { run: earlier, known };
    if (known === asked.length) break;
  }
  const plan = planRun(run, queries, best?.run);
  io.stdout.write(options.json ? `${JSON.stringify(plan, null, 2)}\n` : planText(plan));
  return 0;
}

/** The plan as text. */
function planText({ agent, spec, summary, cases }: RunPlan): string {
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

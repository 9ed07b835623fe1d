import { present } from '@agentci/lib/data';
import { formatUsd } from '@agentci/lib/numbers';
import { formatCount, plural } from '@agentci/lib/text';
import type { CassetteUse, RunResult } from './run-result.ts';

/** Model calls outside of the agents: judges and simulated users. Cassettes do not answer these. */
interface OtherBills {
  readonly judge?: RunResult['judge'] | undefined;
  readonly user?: RunResult['judge'] | undefined;
}

/**
 * Summarizes a run with cassettes in one line: calls served and missed, frozen values, recorded and
 * current cost.
 */
export function cassetteText(use: CassetteUse, others: OtherBills = {}): string {
  const {
    mode,
    hits,
    misses,
    scrubbed,
    unused,
    new: fresh = 0,
    asked = fresh,
    isolated,
    planes,
  } = use;
  const lost = asked - fresh;
  const unkept = lost > 0 ? [`${formatCount(lost)} made and not kept`] : [];
  if (mode === 'record')
    return `cassette: ${[`${plural(fresh, 'call')} recorded`, ...unkept].join(', ')}`;
  const counts = present([
    `${plural(hits, 'call')} replayed${scrubbed === 0 ? '' : ` (${formatCount(scrubbed)} by scrub)`}`,
    misses === 0
      ? undefined
      : `${formatCount(misses)} missed${use.causes ? ` (${use.causes.join(', ')})` : ''}`,
    fresh === 0 ? undefined : `${formatCount(fresh)} new`,
    ...unkept,
    unused === 0 ? undefined : `${formatCount(unused)} unused`,
    use.mcp_hits === undefined
      ? undefined
      : `${plural(use.mcp_hits, 'call')} to MCP servers answered`,
  ]);
  const frozen = planes.includes('llm')
    ? `model calls were frozen${planes.includes('mcp') ? ', MCP tools too' : ', tools ran for real'}`
    : 'nothing was frozen';
  const parts = [
    `cassette: ${counts.join(', ')}`,
    costText(use, others),
    frozen,
    isolated ? '' : whyNotIsolated(use),
  ];
  return parts.filter(Boolean).join('; ');
}

function whyNotIsolated({
  mode,
  misses,
  hits,
  planes,
  mcp_unused: calls = 0,
}: CassetteUse): string {
  if (mode === 'auto') return 'not isolated: "auto" asks models if nothing is recorded';
  if (misses > 0) return 'not isolated: calls were missed';
  if (calls > 0 && !planes.includes('mcp'))
    return 'not isolated: MCP servers answered for themselves, though their answers were recorded';
  return hits === 0
    ? 'not isolated: no recorded call was served'
    : 'not isolated: a query had no call served, a call came after its answer, MCP servers answered for themselves, or an encrypted connection to this machine could not be looked into';
}

function costText(
  { recorded_cost_usd: recorded, spent_usd: spent, hits }: CassetteUse,
  others: OtherBills,
): string {
  if (recorded === undefined || hits === 0) return '';
  const then = recorded === null ? 'recorded cost unknown' : `recorded ${formatUsd(recorded)}`;
  const agent = spent === 0 ? '$0' : 'in part (new calls)';
  const bills = Object.entries({ judge: others.judge, user: others.user })
    .filter(([, bill]) => bill !== undefined && bill.calls > 0)
    .map(
      ([name, bill]) =>
        `${name} ${bill!.cost_usd === null ? 'an unknown amount' : formatUsd(bill!.cost_usd)}`,
    );
  return bills.length === 0
    ? `${then}, spent ${agent}`
    : `${then}, spent: agent ${agent}, ${bills.join(', ')}`;
}

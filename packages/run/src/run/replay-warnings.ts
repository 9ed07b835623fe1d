import type { CassetteMode, CassetteSession, UserTape } from '@agentci/capture';
import { andMore, plural } from '@agentci/lib/text';
import { LEFT_OUT, leftOutText } from '@agentci/mcp';
import type { TraceWarning } from '@agentci/results';
import type { McpTape } from './mcp-tape.ts';

interface Tapes {
  readonly session: CassetteSession;
  readonly tape: UserTape;
  readonly mcp: McpTape | undefined;
}

/** Warnings about a run with its cassette. */
export function playedWarnings(
  mode: CassetteMode,
  { session, tape, mcp }: Tapes,
  { freezeMcp }: { readonly freezeMcp: string },
): TraceWarning[] {
  const { unused } = session.counts();
  const warnings: TraceWarning[] = [];
  if (mcp?.isFrozen && mcp.unused > 0)
    warnings.push({
      code: 'CASSETTE_UNUSED',
      message: `${plural(mcp.unused, 'recorded call')} to MCP servers ${mcp.unused === 1 ? 'was' : 'were'} not made this time`,
    });
  if (mcp?.isPassedBy)
    warnings.push({
      code: mcp.unused > 0 ? 'CASSETTE_UNUSED' : 'CASSETTE_MCP_LIVE',
      message: `the recording ${mcp.unused > 0 ? `holds ${plural(mcp.unused, 'call')} to MCP servers` : 'was made with MCP'}, and this run does not freeze MCP, so the servers themselves answered what the agent asked them; ${freezeMcp}, or record it again`,
    });
  else if (mcp !== undefined && !mcp.isFrozen && mode !== 'record')
    warnings.push({
      code: 'CASSETTE_MCP_LIVE',
      message:
        'the recording has no answers of MCP servers, so the servers themselves answered; record it again to freeze them too',
    });
  const leftOut = leftOutText(mcp?.leftOut ?? {}, mcp?.isFrozen ? 'replay' : 'record');
  if (leftOut !== undefined && (mcp?.isFrozen || mode !== 'replay'))
    warnings.push({ code: LEFT_OUT, message: leftOut });
  if (unused > 0)
    warnings.push({
      code: 'CASSETTE_UNUSED',
      message: `${unused} of ${plural(session.size, 'recorded call')} ${unused === 1 ? 'was' : 'were'} not made this time: ${andMore(
        session.unusedEntries().map(({ i, model, path }) => `exchange ${i} (${model ?? path})`),
        3,
      )}`,
    });
  if (tape.unused > 0)
    warnings.push({
      code: 'CASSETTE_UNUSED',
      message: `${tape.unused} of ${plural(tape.words.length, 'recorded reply', 'recorded replies')} of the user ${tape.unused === 1 ? 'was' : 'were'} not needed this time`,
    });
  if (mode === 'record' && session.counts().asked === 0)
    warnings.push({
      code: 'CASSETTE_EMPTY',
      message: `the agent made no call that could be recorded, so its cassette ${tape.hasNew ? "has the user's words alone" : 'is empty'}; replay refuses it as it is`,
    });
  const { blockedHosts, alteredBy } = session;
  if (blockedHosts.length > 0)
    warnings.push({
      code: 'CASSETTE_BLOCKED',
      message: `replay refused connections to ${andMore(blockedHosts, 5)}; add a host to NO_PROXY if a tool needs it`,
    });
  if (alteredBy.length > 0)
    warnings.push({
      code: 'CASSETTE_ALTERED',
      message: `replies were served without credentials that they held when recorded (${alteredBy.join(', ')})`,
    });
  return warnings;
}

import type { Guard } from '@agentci/mcp';
import {
  errorReply,
  GuardSessions,
  guardHttp,
  readServerUrl,
  relay,
  sendJson,
  serveMcp,
} from '@agentci/mcp';
import type { Io } from '../cli/io.ts';
import { closingLine } from './closing-line.ts';
import { type GuardFlags, LEFT_OPEN } from './flags.ts';
import { untilStopped } from './until-stopped.ts';

/** Serves a guarded server over HTTP until it is stopped. */
export async function serveGuard(
  guard: Guard,
  url: string,
  {
    flags,
    io,
    say,
  }: { readonly flags: GuardFlags; readonly io: Io; readonly say: (text: string) => void },
): Promise<number> {
  const upstream = readServerUrl(url);
  const sessions = new GuardSessions(guard, flags.scope ?? 'client');
  const served = await serveMcp(flags.listen, (request, response) => {
    const middle = guardHttp(guard, sessions, request);
    if (middle === undefined) {
      request.resume();
      sendJson(response, 503, errorReply(null, -32000, 'too many clients'));
    } else relay(request, response, { upstream, middle });
  });
  say(`serving ${served.url} for ${upstream.origin}`);
  const code = await untilStopped(io.signal);
  await served.close();
  const { left, ...counts } = sessions.close();
  for (const { rule, reason } of left) say(`left open: ${rule}: ${reason} (${LEFT_OPEN})`);
  say(closingLine(counts));
  return code;
}

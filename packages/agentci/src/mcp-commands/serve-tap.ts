import { rememberKeys } from '@agentci/lib/secrets';
import type { TapSink } from '@agentci/mcp';
import { readServerUrl, relay, serveMcp, tapHttp } from '@agentci/mcp';
import type { Io } from '../cli/io.ts';
import type { TapFlags } from './flags.ts';
import { untilStopped } from './until-stopped.ts';

/** Serves a server over HTTP and records the traffic, until it is stopped. */
export async function serveTap(
  log: TapSink,
  url: string,
  {
    flags,
    io,
    say,
  }: { readonly flags: TapFlags; readonly io: Io; readonly say: (text: string) => void },
): Promise<number> {
  const upstream = readServerUrl(url);
  const served = await serveMcp(flags.listen, (request, response) => {
    // A server may repeat the client's key in its messages.
    rememberKeys(request);
    relay(request, response, { upstream, middle: tapHttp(log) });
  });
  say(`serving ${served.url} for ${upstream.origin}`);
  const code = await untilStopped(io.signal);
  await served.close();
  return code;
}

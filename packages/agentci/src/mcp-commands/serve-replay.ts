import type { CassettePlayer } from '@agentci/mcp';
import { ReplayStream, replayHttp, serveMcp } from '@agentci/mcp';
import type { Io } from '../cli/io.ts';
import { untilStopped } from './until-stopped.ts';

/** Serves a recording over HTTP until it is stopped. */
export async function serveReplay(
  player: CassettePlayer,
  clean: (value: unknown) => unknown,
  {
    listen,
    io,
    say,
  }: { readonly listen: string; readonly io: Io; readonly say: (text: string) => void },
): Promise<void> {
  const stream = new ReplayStream();
  const served = await serveMcp(listen, (request, response) =>
    replayHttp(request, response, { player, stream, clean }),
  );
  say(`serving ${served.url}`);
  await untilStopped(io.signal);
  await served.close();
}

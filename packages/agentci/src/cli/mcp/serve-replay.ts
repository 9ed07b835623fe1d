import type { CassettePlayer } from '../../mcp/cassette/player.ts';
import { ReplayStream, replayHttp } from '../../mcp/cassette/replay-http.ts';
import { serveMcp } from '../../mcp/http/serve.ts';
import type { Io } from '../io.ts';
import { untilStopped } from './until-stopped.ts';

/** Answers clients over HTTP from a recording until it is told to stop. */
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

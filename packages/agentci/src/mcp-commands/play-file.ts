import { statSync } from 'node:fs';
import { SECRETS } from '@agentci/lib/secrets';
import type { TapSink } from '@agentci/mcp';
import { CassettePlayer, readTapLines, replayStdio } from '@agentci/mcp';
import { clientStreams, parentId } from './streams.ts';

/**
 * Answers from a file until the client disconnects. The file is replaced when the next query
 * begins, because an agent may run for several queries.
 */
export function playFile(
  path: string,
  { log, signal }: { readonly log: TapSink; readonly signal: AbortSignal },
): Promise<void> {
  let player: CassettePlayer | undefined;
  let read = '';
  const playerNow = (): CassettePlayer => {
    const { ino, mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {
      ino: 0,
      mtimeMs: 0,
      size: 0,
    };
    const state = `${ino} ${mtimeMs} ${size}`;
    if (player === undefined || state !== read)
      player = new CassettePlayer(ino === 0 ? [] : readTapLines(path));
    read = state;
    return player;
  };
  return replayStdio(playerNow, (value) => SECRETS.value(value), {
    ...clientStreams(),
    signal,
    parent: parentId,
    log,
  });
}

import { dirname } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { CassettePlayer, readTapLines } from '@agentci/mcp';
import { checkCassettePlace, writeCassetteFile } from '@agentci/run';

/**
 * Number of calls in the recording at this path, or 0 without a file. Throws if the file is not a
 * recording.
 */
export function recordedCalls(path: string): number {
  const found = inItsPlace(path, () => checkCassettePlace(dirname(path), path));
  if (found === undefined || found.size === 0) return 0;
  try {
    return new CassettePlayer(readTapLines(path)).calls;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError('CASSETTE_PLACE', `${error.message}, so it is not written over`, {
      hint: WAY_OUT,
    });
  }
}

/** Replaces the whole recording. A recording with calls is not replaced by an empty one. */
export function writeRecording(
  path: string,
  { text, calls }: { readonly text: string; readonly calls: number },
): void {
  const earlier = recordedCalls(path);
  if (calls === 0 && earlier > 0)
    throw new UserError(
      'MCP_CASSETTE_KEPT',
      `the client called nothing, so the earlier recording of ${plural(earlier, 'call')} in ${path} was kept and this one was not`,
      { hint: 'remove the file to record this session all the same' },
    );
  inItsPlace(path, () => writeCassetteFile(dirname(path), path, text));
}

const WAY_OUT = 'name another file, or move this one away';

/** Applies the rules for suite cassettes, with a different hint. */
function inItsPlace<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const message = error.message.startsWith(path) ? error.message : `${path}: ${error.message}`;
    throw new UserError('CASSETTE_PLACE', message, { hint: WAY_OUT });
  }
}

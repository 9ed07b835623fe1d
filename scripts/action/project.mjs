// Shared by the steps of the action: the project's folder, and its installed agentci.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const { env } = process;
const workspace = resolve(env.GITHUB_WORKSPACE || '.');
const given = env.INPUT_WORKING_DIRECTORY || '.';

/** The base folder of paths in inputs. */
export const folder = resolve(workspace, given);

/** A path relative to the root of the checkout, for other actions. */
export const fromRoot = (path) => relative(workspace, resolve(folder, path)).replaceAll('\\', '/');

/** Describes the problem with the folder, if any. */
export const folderProblem = () =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? undefined
    : `working-directory: no folder ${JSON.stringify(given)} in the checkout`;

/** The installed program. In a monorepo it may be in a parent folder, like in npm's lookup. */
export function findAgentci() {
  for (let at = folder; ; at = dirname(at)) {
    const bin = join(at, 'node_modules', '.bin', 'agentci');
    if (existsSync(bin)) return bin;
    if (at === workspace || dirname(at) === at) return undefined;
  }
}

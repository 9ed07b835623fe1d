// What the steps of the action share: where the project is, and the agentci that belongs to it.
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const { env } = process;
const workspace = resolve(env.GITHUB_WORKSPACE || '.');
const given = env.INPUT_WORKING_DIRECTORY || '.';

/** The folder the inputs' paths start from. */
export const folder = resolve(workspace, given);

/** A path in the project as the steps of others need it: from the root of the checkout. */
export const fromRoot = (path) => relative(workspace, resolve(folder, path)).replaceAll('\\', '/');

/** Says what is wrong with the folder, if something is. */
export const folderProblem = () =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? undefined
    : `working-directory: there is no folder ${JSON.stringify(given)} in the checkout`;

/** The installed program. In a monorepo it may be further up, as npm itself looks for it. */
export function findAgentci() {
  for (let at = folder; ; at = dirname(at)) {
    const bin = join(at, 'node_modules', '.bin', 'agentci');
    if (existsSync(bin)) return bin;
    if (at === workspace || dirname(at) === at) return undefined;
  }
}

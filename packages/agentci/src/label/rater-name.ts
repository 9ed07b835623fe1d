import { spawnSync } from 'node:child_process';
import { userInfo } from 'node:os';
import { UserError } from '@agentci/lib/problems';

const MAX_NAME = 100;

/** Name of the rater: as given, else the git user in this folder, else the system user. */
export function raterName(given: string | undefined, folder: string): string {
  if (given !== undefined) return checked(given);
  const git = spawnSync('git', ['config', 'user.name'], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 5000,
  });
  const own = git.status === 0 ? git.stdout.trim() : '';
  return checked(own || machineUser());
}

function machineUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run with a user id without a name.
    return 'rater';
  }
}

function checked(name: string): string {
  const plain = name.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a name must not have.
  if (plain === '' || plain.length > MAX_NAME || /[\x00-\x1f\x7f]/.test(plain))
    throw new UserError(
      'OPTION_INVALID',
      '--rater: a name has 1 to 100 characters and no control characters',
    );
  return plain;
}

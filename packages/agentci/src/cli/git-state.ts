import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Io } from './io.ts';

/** What is checked out, as far as it can be told without running git. */
export interface GitState {
  readonly commit?: string;
  readonly branch?: string;
}

/** What CI systems say; a checkout of theirs is often not on a branch. */
const CI_BRANCH = [
  'AGENTCI_BRANCH',
  'GITHUB_HEAD_REF',
  'GITHUB_REF_NAME',
  'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME',
  'CI_COMMIT_REF_NAME',
  'BUILDKITE_BRANCH',
  'CIRCLE_BRANCH',
];
const CI_COMMIT = ['AGENTCI_COMMIT', 'GITHUB_SHA', 'CI_COMMIT_SHA', 'BUILDKITE_COMMIT', 'CIRCLE_SHA1'];
const MAX_TEXT = 200;
const MAX_PACKED_BYTES = 16 * 1024 * 1024;

/** The commit and branch of the checkout that a folder is in. */
export function gitState(folder: string, { env }: Pick<Io, 'env'>): GitState {
  const own = headOf(folder);
  const commit = firstOf(env, CI_COMMIT) ?? own.commit;
  const branch = firstOf(env, CI_BRANCH) ?? own.branch;
  return { ...(commit === undefined ? {} : { commit }), ...(branch === undefined ? {} : { branch }) };
}

function firstOf(env: Io['env'], names: readonly string[]): string | undefined {
  const name = names.find((each) => (env[each] ?? '').trim() !== '');
  return name === undefined ? undefined : env[name]!.trim().slice(0, MAX_TEXT);
}

function headOf(folder: string): GitState {
  try {
    const git = gitFolder(folder);
    if (git === undefined) return {};
    const head = readFileSync(join(git, 'HEAD'), 'utf8').trim();
    const ref = /^ref: (.+)$/.exec(head)?.[1];
    if (ref === undefined) return isHash(head) ? { commit: head } : {};
    const branch = ref.replace(/^refs\/heads\//, '').slice(0, MAX_TEXT);
    const commit = commitOf(git, ref);
    return { branch, ...(commit === undefined ? {} : { commit }) };
  } catch {
    // A repository that cannot be read is as good as none.
    return {};
  }
}

/** `.git` of the nearest folder above that has one; in a worktree it is a file that names the folder. */
function gitFolder(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const path = join(at, '.git');
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return path;
    if (found?.isFile()) {
      const named = /^gitdir: (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1]?.trim();
      return named === undefined ? undefined : isAbsolute(named) ? named : resolve(at, named);
    }
    if (dirname(at) === at) return undefined;
  }
}

function commitOf(git: string, ref: string): string | undefined {
  const shared = existsSync(join(git, 'commondir'))
    ? resolve(git, readFileSync(join(git, 'commondir'), 'utf8').trim())
    : git;
  for (const place of [git, shared]) {
    const path = join(place, ref);
    if (!existsSync(path)) continue;
    const text = readFileSync(path, 'utf8').trim();
    if (isHash(text)) return text;
  }
  const packed = join(shared, 'packed-refs');
  if (!existsSync(packed) || statSync(packed).size > MAX_PACKED_BYTES) return undefined;
  const line = readFileSync(packed, 'utf8')
    .split('\n')
    .find((each) => each.endsWith(` ${ref}`));
  const hash = line?.split(' ')[0];
  return hash !== undefined && isHash(hash) ? hash : undefined;
}

const isHash = (text: string): boolean => /^[0-9a-f]{40,64}$/.test(text);

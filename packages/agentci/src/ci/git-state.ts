import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Io } from '../cli/io.ts';

/**
 * The checked-out commit and branch, as far as files and variables show them without running git.
 */
export interface GitState {
  readonly commit?: string;
  readonly branch?: string;
}

type Env = Io['env'];
interface Variable {
  readonly name: string;
  /** For tag builds, the variable holds a tag, not a branch. */
  readonly isTag?: (env: Env) => boolean;
}

/** Variables of CI systems. Their checkouts often have a detached HEAD. */
const CI_BRANCH: readonly Variable[] = [
  { name: 'AGENTCI_BRANCH' },
  { name: 'GITHUB_HEAD_REF' },
  { name: 'GITHUB_REF_NAME', isTag: ({ GITHUB_REF_TYPE }) => GITHUB_REF_TYPE === 'tag' },
  { name: 'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME' },
  { name: 'CI_COMMIT_REF_NAME', isTag: ({ CI_COMMIT_TAG }) => isGiven(CI_COMMIT_TAG) },
  { name: 'BUILDKITE_BRANCH', isTag: ({ BUILDKITE_TAG }) => isGiven(BUILDKITE_TAG) },
  { name: 'CIRCLE_BRANCH', isTag: ({ CIRCLE_TAG }) => isGiven(CIRCLE_TAG) },
];
const CI_COMMIT = [
  'AGENTCI_COMMIT',
  'GITHUB_SHA',
  'CI_COMMIT_SHA',
  'BUILDKITE_COMMIT',
  'CIRCLE_SHA1',
];
/** Users who set a variable may give an abbreviated hash. */
const MIN_GIVEN_HASH = 7;
const MAX_TEXT = 200;
const MAX_PACKED_BYTES = 16 * 1024 * 1024;

/** The commit and branch of the checkout that a folder is in. */
export function gitState(folder: string, { env }: Pick<Io, 'env'>): GitState {
  const own = headOf(folder);
  // Buildkite sets "HEAD" for builds started without a commit.
  const commit =
    CI_COMMIT.map((name) => textOf(env, name)).find((text) => isHash(text, MIN_GIVEN_HASH)) ??
    own.commit;
  const named = CI_BRANCH.find(({ name, isTag }) => isGiven(env[name]) && isTag?.(env) !== true);
  const branch = named === undefined ? own.branch : textOf(env, named.name);
  return {
    commit,
    branch,
  };
}

const isGiven = (value: string | undefined): boolean => (value ?? '').trim() !== '';
const textOf = (env: Env, name: string): string => (env[name] ?? '').trim().slice(0, MAX_TEXT);

function headOf(folder: string): GitState {
  try {
    const git = gitFolder(folder);
    if (git === undefined) return {};
    const head = readFileSync(join(git, 'HEAD'), 'utf8').trim();
    const ref = /^ref: (.+)$/.exec(head)?.[1];
    if (ref === undefined) return isHash(head) ? { commit: head } : {};
    const branch = ref.replace(/^refs\/heads\//, '').slice(0, MAX_TEXT);
    const commit = commitOf(git, ref);
    return { branch, commit };
  } catch {
    // An unreadable repository is treated like no repository.
    return {};
  }
}

/** `.git` of the nearest parent folder. In a worktree it is a file that names the folder. */
function gitFolder(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const path = join(at, '.git');
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return path;
    if (found?.isFile()) {
      const named = /^gitdir: (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1]?.trim();
      if (named === undefined) return undefined;
      if (isAbsolute(named)) return named;
      return resolve(at, named);
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

const isHash = (text: string, min = 40): boolean =>
  text.length >= min && /^[0-9a-f]{1,64}$/.test(text);

// A release as data: the version, the section of the changelog, the changed files and the commands.

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/;

/** The requested version: a number, or an increment of the last. Must be higher than the last. */
export function nextVersion(current, asked) {
  const [major, minor, patch] = numbers(current);
  const up = {
    major: `${major + 1}.0.0`,
    minor: `${major}.${minor + 1}.0`,
    patch: `${major}.${minor}.${patch + 1}`,
  }[asked];
  if (up !== undefined) return up;
  if (!VERSION.test(asked))
    throw new Error(
      `"${asked}" is not a version: write major, minor, patch or a number such as 1.2.3`,
    );
  const order = compare(numbers(asked), [major, minor, patch]);
  if (order < 0 || (order === 0 && !current.includes('-')))
    throw new Error(`${asked} is not higher than ${current}`);
  return asked;
}

function numbers(version) {
  const found = VERSION.exec(version);
  if (found === null) throw new Error(`"${version}" is not a version`);
  return found.slice(1, 4).map(Number);
}

const compare = (a, b) => a.map((n, i) => n - b[i]).find((difference) => difference !== 0) ?? 0;

/** Moves the unreleased changes under a version heading. Fails without changes. */
export function cutChangelog(text, { version, date }) {
  const heading = /^## Unreleased\n+/m.exec(text);
  if (heading === null) throw new Error('CHANGELOG.md has no "## Unreleased"');
  const start = heading.index + heading[0].length;
  const rest = text.slice(start);
  const end = rest.search(/^## /m);
  const notes = (end < 0 ? rest : rest.slice(0, end)).trim();
  if (notes === '') throw new Error('CHANGELOG.md says nothing under "## Unreleased"');
  return {
    notes,
    text: `${text.slice(0, heading.index)}## Unreleased\n\n## ${version} (${date})\n\n${rest}`,
  };
}

/** Replaces the version in a manifest's text, to keep its formatting. */
export const withVersion = (text, from, to) =>
  text.replace(`"version": "${from}"`, `"version": "${to}"`);

/** The lock file contains the version of the workspace too. */
export function lockWithVersion(text, path, to) {
  const lock = JSON.parse(text);
  if (lock.packages?.[path] === undefined)
    throw new Error(`package-lock.json does not know ${path}`);
  lock.packages[path].version = to;
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/**
 * The ordered commands of a release. Publishes before pushing, because a pulled tag must have its
 * package. The tag of the major version moves.
 */
export function commands({ version, branch }) {
  const tag = `v${version}`;
  const moving = `v${version.split('.')[0]}`;
  const isPreview = version.includes('-');
  return [
    ['npm', 'run', 'gen'],
    ['npm', 'run', 'check'],
    ['git', 'commit', '--all', '--message', `Release ${version}`],
    ['git', 'tag', '--annotate', tag, '--message', `Release ${version}`],
    ...(isPreview ? [] : [['git', 'tag', '--force', moving]]),
    [
      'npm',
      'publish',
      '--workspace',
      '@agentci/agentci',
      '--provenance',
      '--access',
      'public',
      ...(isPreview ? ['--tag', 'next'] : []),
    ],
    ['git', 'push', '--atomic', 'origin', `HEAD:${branch}`, tag],
    ...(isPreview ? [] : [['git', 'push', '--force', 'origin', moving]]),
    [
      'gh',
      'release',
      'create',
      tag,
      '--title',
      tag,
      '--notes-file',
      '-',
      ...(isPreview ? ['--prerelease'] : []),
    ],
  ];
}

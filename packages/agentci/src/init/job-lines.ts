import { present } from '@agentci/lib/data';
import type { Project } from './project.ts';

/** What a CI job must know of the project. */
export interface JobPlan {
  readonly project: Project;
  readonly isPython: boolean;
  /** Agents with a spec each; none means the one spec at the root. */
  readonly matrix: readonly string[];
  /** Of AgentCI, for projects that do not have it in their package.json. */
  readonly version: string;
  /** Where the project is in its repository, as `services/bot`; nothing at its root. */
  readonly folder?: string;
  /** The repository has a .gitlab-ci.yml already. */
  readonly hasGitlab?: boolean;
  /** Calls of models are recorded: the job replays them and needs no key. */
  readonly hasCassettes?: boolean;
  /** Into how many jobs the suite is divided, with one more that joins them. */
  readonly shards?: number;
}

export const MANAGERS = {
  npm: { add: 'npm install --save-dev', install: 'npm install' },
  pnpm: { add: 'pnpm add --save-dev', install: 'pnpm install' },
  yarn: { add: 'yarn add --dev', install: 'yarn install' },
  bun: { add: 'bun add --dev', install: 'bun install' },
} as const;

/** Installs exactly what the lock file says; without one, what package.json says. */
export function installLines({ project, isPython, version }: JobPlan): string[] {
  const { packageManager, lock, isClassicYarn, pythonManifest } = project;
  const isLocked = lock !== undefined;
  const node = {
    npm: [isLocked ? 'npm ci' : 'npm install'],
    pnpm: ['corepack enable', isLocked ? 'pnpm install --frozen-lockfile' : 'pnpm install'],
    yarn: [
      'corepack enable',
      isLocked
        ? `yarn install ${isClassicYarn ? '--frozen-lockfile' : '--immutable'}`
        : 'yarn install',
    ],
    bun: ['npm install --global bun', isLocked ? 'bun install --frozen-lockfile' : 'bun install'],
  };
  const python = !isPython || pythonManifest === undefined ? [] : [pipLine(project)];
  return packageManager === undefined
    ? [`npm install --no-save @agentci/agentci@${version}`, ...python]
    : [...node[packageManager], ...python];
}

function pipLine({ pythonManifest, isPythonPackage }: Project): string {
  if (pythonManifest === 'requirements.txt') return 'pip install -r requirements.txt';
  if (isPythonPackage) return 'pip install .';
  // Not a package, so only what it depends on.
  return `python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb')).get('project', {}).get('dependencies', []), sep='\\n')" > /tmp/requirements.txt && pip install -r /tmp/requirements.txt`;
}

/** Says what is missing before a package manager fails with words of its own. */
export function checkLines({ project: { packageManager, lock } }: JobPlan): string[] {
  if (packageManager === undefined) return [];
  const { add, install } = MANAGERS[packageManager];
  return present([
    `grep -q '"@agentci/agentci"' package.json || { echo "@agentci/agentci is not a dependency: ${add} @agentci/agentci"; exit 1; }`,
    lock === undefined
      ? undefined
      : `test -f ${lock} || { echo "${lock} is missing: run ${install} and commit it"; exit 1; }`,
  ]);
}

/** Recorded calls are answered from their files; one that is not there fails the job instead of asking a model. */
export const replayFlag = ({ hasCassettes }: JobPlan): string =>
  hasCassettes ? ' --cassette replay' : '';

export const indent = (lines: readonly string[], spaces: number): string =>
  lines.map((line) => `${' '.repeat(spaces)}${line}`).join('\n');

export const CHECKOUT_STEP =
  '- uses: actions/checkout@11d5960a326750d5838078e36cf38b85af677262 # v4.4.0';

/** Gets the project and what it needs. Actions are named by commit: a tag can be moved to other code, a commit cannot. */
export function setupSteps(plan: JobPlan): string[] {
  const checks = checkLines(plan);
  return [
    CHECKOUT_STEP,
    '- uses: actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0',
    '  with:',
    '    node-version: 22',
    ...(plan.isPython
      ? [
          '- uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0',
          '  with:',
          '    python-version: "3.13"',
        ]
      : []),
    ...(checks.length === 0
      ? []
      : ['- name: Check the dependency and the lock file', '  run: |', indent(checks, 4)]),
    '- name: Install',
    '  run: |',
    indent(installLines(plan), 4),
  ];
}

/** Keys for agents that ask models. */
export const keyLines = ({ hasCassettes }: JobPlan): string[] =>
  hasCassettes
    ? []
    : [
        '  # Not needed once calls of models are recorded (--cassette record): then run agentci init --force again',
        '  env:',
        '    ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}',
        '    OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}',
      ];

/** Shows and keeps what a run leaves, also where it fails. */
export const keepSteps = (at: string, suffix: string): string[] => [
  '- name: Step summary',
  '  if: always()',
  '  run: cat agentci-summary.md >> "$GITHUB_STEP_SUMMARY" || true',
  '- name: Keep the results',
  '  if: always()',
  '  uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2',
  '  with:',
  `    name: agentci-results${suffix}`,
  '    path: |',
  `      ${at}agentci-results.json`,
  `      ${at}agentci-report.html`,
];

const KEPT = ['runs', 'history', 'timings.json'] as const;
const CACHE_COMMIT = '0057852bfaa89a56745cba8c7296529d2fc39830 # v4.3.0';

/** Where the state of AgentCI is, from the root of the repository, and the name it is kept under. */
export interface StatePlace {
  /** The folder of the spec, with a slash; nothing at the root. */
  readonly at: string;
  readonly key: string;
}

const cachePaths = (at: string): string[] => [
  '    path: |',
  ...KEPT.map((name) => `      ${at}.agentci/${name}`),
];

/**
 * Brings the last run of the base branch, which reports compare with, and the history. Not for shards: all of them must plan by the
 * same durations, and what a cache has may change while they start.
 */
export const restoreSteps = ({ at, key }: StatePlace): string[] => [
  '- name: Restore the last run of the base branch',
  `  uses: actions/cache/restore@${CACHE_COMMIT}`,
  '  with:',
  ...cachePaths(at),
  `    key: ${key}-\${{ github.base_ref || github.ref_name }}-\${{ github.run_id }}`,
  `    restore-keys: ${key}-\${{ github.base_ref || github.ref_name }}-`,
];

/** Keeps the run of a push for the pull requests that will be compared with it. */
export const saveSteps = ({ at, key }: StatePlace): string[] => [
  '- name: Keep only the newest run',
  "  if: always() && github.event_name == 'push'",
  `  working-directory: \${{ github.workspace }}`,
  `  run: ${newestOnly(at)}`,
  '- name: Keep it for pull requests',
  "  if: always() && github.event_name == 'push'",
  `  uses: actions/cache/save@${CACHE_COMMIT}`,
  '  with:',
  ...cachePaths(at),
  `    key: ${key}-\${{ github.ref_name }}-\${{ github.run_id }}`,
];

/** The names of runs begin with the time. */
const newestOnly = (at: string): string =>
  `ls -d ${at}.agentci/runs/*/ | head -n -1 | xargs -r rm -rf`;

/** The paths of a cache are part of what it is known by, so whoever reads some of it names all. */
export const keptPaths = (at: string): string =>
  KEPT.map((name) => `${at.replace('$AGENT', '*')}.agentci/${name}`).join(', ');

/** As `restoreSteps` and `saveSteps`: the default branch writes what the others read. */
export const gitlabCache = ({ at, key }: StatePlace, when = 'on_success'): string => `  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
      when: ${when}
      variables: {AGENTCI_CACHE: pull-push}
    - if: $CI_COMMIT_BRANCH || $CI_COMMIT_TAG
      when: ${when}
      variables: {AGENTCI_CACHE: pull}
  # The last run of the default branch, which others are compared with
  cache:
    key: ${key}
    policy: $AGENTCI_CACHE
    when: always
    unprotect: true
    paths: [${keptPaths(at)}]
  after_script:
    - ${newestOnly(at)}
`;

/** What a job of GitHub has between its name and its steps. */
export const githubPlace = (folder: string): string =>
  folder === '' ? '' : `    defaults:\n      run:\n        working-directory: ${folder}\n`;

/** What a job of GitLab does before it can run AgentCI. Debian's own Node is recent enough from trixie on, so that one image has both languages. */
export const gitlabSetup = (plan: JobPlan): string[] =>
  present([
    plan.isPython
      ? 'apt-get update && apt-get install --yes --no-install-recommends nodejs npm'
      : undefined,
    plan.folder ? `cd ${plan.folder}` : undefined,
    ...checkLines(plan),
    ...installLines(plan),
  ]);
export const gitlabImage = ({ isPython }: JobPlan): string =>
  isPython ? 'python:3.13-trixie' : 'node:22';

/** Says what must be done before the jobs of GitLab run. */
export const gitlabHead = ({ hasCassettes }: JobPlan, name: string): string =>
  `# .gitlab-ci.yml must include this file:  include: [{local: .gitlab-ci.${name}.yml}]
${hasCassettes ? '' : '# Keys of models are variables of the project; recorded calls (--cassette record) need none: then run agentci init --force again\n'}`;

export const gitlabScript = (lines: readonly string[]): string =>
  indent(
    lines.map((line) => `- ${yamlText(line)}`),
    4,
  );

/** A command with a colon or a quote in it would be read as something else. */
export const yamlText = (line: string): string =>
  /[:#'"{}]/.test(line) ? `'${line.replaceAll("'", "''")}'` : line;

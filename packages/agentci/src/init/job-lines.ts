import { present } from '@agentci/lib/data';
import type { Project } from './project.ts';

/** The project settings of a CI job. */
export interface JobPlan {
  readonly project: Project;
  readonly isPython: boolean;
  /** Agents with one spec each. Empty for a single spec at the root. */
  readonly matrix: readonly string[];
  /** Version of AgentCI, for projects without it in their package.json. */
  readonly version: string;
  /** Path of the project in its repository, as `services/bot`. Empty at the root. */
  readonly folder?: string;
  /** The repository already has a .gitlab-ci.yml. */
  readonly hasGitlab?: boolean;
  /** Model calls are recorded. The job replays them and needs no key. */
  readonly hasCassettes?: boolean;
  /** Number of jobs to split the suite into. One more job merges them. */
  readonly shards?: number;
}

export const MANAGERS = {
  npm: { add: 'npm install --save-dev', install: 'npm install' },
  pnpm: { add: 'pnpm add --save-dev', install: 'pnpm install' },
  yarn: { add: 'yarn add --dev', install: 'yarn install' },
  bun: { add: 'bun add --dev', install: 'bun install' },
} as const;

/** Installs the locked versions, or those of package.json without a lock file. */
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
  // Not a package, so only its dependencies are installed.
  return `python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb')).get('project', {}).get('dependencies', []), sep='\\n')" > /tmp/requirements.txt && pip install -r /tmp/requirements.txt`;
}

/** Reports missing files with a clear message before the package manager fails. */
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

/** Replays recorded calls. A missing recording fails the job instead of calling a model. */
export const replayFlag = ({ hasCassettes }: JobPlan): string =>
  hasCassettes ? ' --cassette replay' : '';

export const indent = (lines: readonly string[], spaces: number): string =>
  lines.map((line) => `${' '.repeat(spaces)}${line}`).join('\n');

export const CHECKOUT_STEP =
  '- uses: actions/checkout@11d5960a326750d5838078e36cf38b85af677262 # v4.4.0';

/**
 * Checks out the project and installs its tools. Actions are pinned by commit, because tags can
 * move.
 */
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

/** API keys for agents that call models. */
export const keyLines = ({ hasCassettes }: JobPlan): string[] =>
  hasCassettes
    ? []
    : [
        '  # Not needed once calls of models are recorded (--cassette record): then run agentci init --force again',
        '  env:',
        '    ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}',
        '    OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}',
      ];

/** Shows and stores the results of a run, even if it fails. */
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

/** Location of AgentCI's state relative to the repository root, and its cache key. */
export interface StatePlace {
  /** The folder of the spec with a trailing slash. Empty at the root. */
  readonly at: string;
  readonly key: string;
}

const cachePaths = (at: string): string[] => [
  '    path: |',
  ...KEPT.map((name) => `      ${at}.agentci/${name}`),
];

/**
 * Restores the last run of the base branch, which reports compare with, and the history. Not for
 * shards: all shards must plan with the same durations, and the cache may change while they start.
 */
export const restoreSteps = ({ at, key }: StatePlace): string[] => [
  '- name: Restore the last run of the base branch',
  `  uses: actions/cache/restore@${CACHE_COMMIT}`,
  '  with:',
  ...cachePaths(at),
  `    key: ${key}-\${{ github.base_ref || github.ref_name }}-\${{ github.run_id }}`,
  `    restore-keys: ${key}-\${{ github.base_ref || github.ref_name }}-`,
];

/** Saves the run of a push for later pull requests. */
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

/** Run names start with the time. */
const newestOnly = (at: string): string =>
  `ls -d ${at}.agentci/runs/*/ | head -n -1 | xargs -r rm -rf`;

/** A cache is identified by its paths, so every reader must list all of them. */
export const keptPaths = (at: string): string =>
  KEPT.map((name) => `${at.replace('$AGENT', '*')}.agentci/${name}`).join(', ');

/** Like `restoreSteps` and `saveSteps`. The default branch writes, the others read. */
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

/** The lines of a GitHub job between its name and its steps. */
export const githubPlace = (folder: string): string =>
  folder === '' ? '' : `    defaults:\n      run:\n        working-directory: ${folder}\n`;

/**
 * Setup of a GitLab job. Debian's Node is recent enough since trixie, so one image has both
 * languages.
 */
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

/** Explains what to do before the GitLab jobs run. */
export const gitlabHead = ({ hasCassettes }: JobPlan, name: string): string =>
  `# .gitlab-ci.yml must include this file:  include: [{local: .gitlab-ci.${name}.yml}]
${hasCassettes ? '' : '# Keys of models are variables of the project; recorded calls (--cassette record) need none: then run agentci init --force again\n'}`;

export const gitlabScript = (lines: readonly string[]): string =>
  indent(
    lines.map((line) => `- ${yamlText(line)}`),
    4,
  );

/** Quotes a command if YAML would misread its colon or quote. */
export const yamlText = (line: string): string =>
  /[:#'"{}]/.test(line) ? `'${line.replaceAll("'", "''")}'` : line;

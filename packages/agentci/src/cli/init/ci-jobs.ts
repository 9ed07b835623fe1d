import type { Project } from './project.ts';

export const CI_SYSTEMS = ['github', 'gitlab', 'none'] as const;
export type CiSystem = (typeof CI_SYSTEMS)[number];

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
}

/** The files of a CI job, by path. CI systems look at the root of the repository only. */
export function ciFiles(ci: CiSystem, plan: JobPlan): Record<string, string> {
  const { folder = '' } = plan;
  const root = folder === '' ? '' : '../'.repeat(folder.split('/').length);
  const name = folder === '' ? 'agentci' : `agentci-${folder.replace(/[^A-Za-z0-9._-]+/g, '-')}`;
  switch (ci) {
    case 'github':
      return { [`${root}.github/workflows/${name}.yml`]: githubWorkflow(plan) };
    case 'gitlab':
      return {
        [`${root}.gitlab-ci.${name}.yml`]: gitlabJob(plan, name),
        ...(plan.hasGitlab ? {} : { [`${root}.gitlab-ci.yml`]: `include:\n  - local: .gitlab-ci.${name}.yml\n` }),
      };
    case 'none':
      return {};
    default:
      throw new Error(`unhandled CI system: ${ci satisfies never}`);
  }
}

/** What to do before the job can pass, in sentences. */
export function jobNotes(ci: CiSystem, plan: JobPlan): string[] {
  const { project, folder = '' } = plan;
  const notes: string[] = [];
  if (ci === 'gitlab' && plan.hasGitlab)
    notes.push(
      `add it to .gitlab-ci.yml, or the job never runs: include: [{local: ${Object.keys(ciFiles(ci, plan))[0]!.replace(/^(\.\.\/)+/, '')}}]`,
    );
  if (ci !== 'none' && folder !== '') notes.push(`the job is at the root of the repository, and runs in ${folder}`);
  if (ci === 'none' || project.packageManager === undefined) return notes;
  const { add, install } = MANAGERS[project.packageManager];
  if (!project.hasAgentci) notes.push(`@agentci/agentci is not a dependency yet: ${add} @agentci/agentci`);
  if (project.lock === undefined)
    notes.push(`there is no lock file: run ${install} and commit it, then agentci init --force uses it`);
  return notes;
}

const MANAGERS = {
  npm: { add: 'npm install --save-dev', install: 'npm install' },
  pnpm: { add: 'pnpm add --save-dev', install: 'pnpm install' },
  yarn: { add: 'yarn add --dev', install: 'yarn install' },
  bun: { add: 'bun add --dev', install: 'bun install' },
} as const;

/** Installs exactly what the lock file says; without one, what package.json says. */
function installLines({ project, isPython, version }: JobPlan): string[] {
  const { packageManager, lock, isClassicYarn, pythonManifest } = project;
  const isLocked = lock !== undefined;
  const node = {
    npm: [isLocked ? 'npm ci' : 'npm install'],
    pnpm: ['corepack enable', isLocked ? 'pnpm install --frozen-lockfile' : 'pnpm install'],
    yarn: [
      'corepack enable',
      isLocked ? `yarn install ${isClassicYarn ? '--frozen-lockfile' : '--immutable'}` : 'yarn install',
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
function checkLines({ project: { packageManager, lock } }: JobPlan): string[] {
  if (packageManager === undefined) return [];
  const { add, install } = MANAGERS[packageManager];
  return [
    `grep -q '"@agentci/agentci"' package.json || { echo "@agentci/agentci is not a dependency: ${add} @agentci/agentci"; exit 1; }`,
    ...(lock === undefined
      ? []
      : [`test -f ${lock} || { echo "${lock} is missing: run ${install} and commit it"; exit 1; }`]),
  ];
}

/** Recorded calls are answered from their files; one that is not there fails the job instead of asking a model. */
const replayFlag = ({ hasCassettes }: JobPlan): string => (hasCassettes ? ' --cassette replay' : '');

const indent = (lines: readonly string[], spaces: number): string =>
  lines.map((line) => `${' '.repeat(spaces)}${line}`).join('\n');

/** Actions are named by commit: a tag can be moved to other code, a commit cannot. */
function githubWorkflow(plan: JobPlan): string {
  const { matrix, isPython, folder = '' } = plan;
  const isMatrix = matrix.length > 0;
  const at = folder === '' ? '' : `${folder}/`;
  const spec = isMatrix ? `agents/\${{ matrix.agent }}/agentci_spec.yaml` : 'agentci_spec.yaml';
  const checks = checkLines(plan);
  const steps = [
    '- uses: actions/checkout@11d5960a326750d5838078e36cf38b85af677262 # v4.4.0',
    '- uses: actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0',
    '  with:',
    '    node-version: 22',
    ...(isPython
      ? [
          '- uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0',
          '  with:',
          '    python-version: "3.13"',
        ]
      : []),
    ...(checks.length === 0 ? [] : ['- name: Check the dependency and the lock file', '  run: |', indent(checks, 4)]),
    '- name: Install',
    '  run: |',
    indent(installLines(plan), 4),
    '- name: Validate the spec',
    `  run: npx --no-install agentci validate ${spec}`,
    '- name: Run AgentCI',
    `  run: npx --no-install agentci test -c ${spec}${replayFlag(plan)} -f console -f json=agentci-results.json -f html=agentci-report.html -f markdown=agentci-summary.md`,
    ...(plan.hasCassettes
      ? []
      : [
          '  # Not needed once calls of models are recorded (--cassette record): then run agentci init --force again',
          '  env:',
          '    ANTHROPIC_API_KEY: ${{ secrets.ANTHROPIC_API_KEY }}',
          '    OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}',
        ]),
    '- name: Step summary',
    '  if: always()',
    '  run: cat agentci-summary.md >> "$GITHUB_STEP_SUMMARY" || true',
    '- name: Keep the results',
    '  if: always()',
    '  uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2',
    '  with:',
    `    name: agentci-results${isMatrix ? '-${{ matrix.agent }}' : ''}`,
    '    path: |',
    `      ${at}agentci-results.json`,
    `      ${at}agentci-report.html`,
  ];
  const strategy = ['strategy:', '  fail-fast: false', '  matrix:', `    agent: [${matrix.join(', ')}]`];
  return `name: AgentCI
on: [push, pull_request]

jobs:
  evaluate:
    runs-on: ubuntu-latest
${isMatrix ? `${indent(strategy, 4)}\n` : ''}${folder === '' ? '' : `    defaults:\n      run:\n        working-directory: ${folder}\n`}    steps:
${indent(steps.join('\n').split('\n'), 6)}
`;
}

/** Debian's own Node is recent enough from trixie on, so that one image has both languages. */
function gitlabJob(plan: JobPlan, name: string): string {
  const { matrix, isPython, folder = '' } = plan;
  const at = folder === '' ? '' : `${folder}/`;
  const isMatrix = matrix.length > 0;
  const spec = isMatrix ? 'agents/$AGENT/agentci_spec.yaml' : 'agentci_spec.yaml';
  const script = [
    ...(isPython ? ['apt-get update && apt-get install --yes --no-install-recommends nodejs npm'] : []),
    ...(folder === '' ? [] : [`cd ${folder}`]),
    ...checkLines(plan),
    ...installLines(plan),
    `npx --no-install agentci validate ${spec}`,
    `npx --no-install agentci test -c ${spec}${replayFlag(plan)} -f console -f junit=agentci-results.xml -f json=agentci-results.json -f html=agentci-report.html`,
  ];
  const parallel = ['parallel:', '  matrix:', `    - AGENT: [${matrix.join(', ')}]`];
  return `# .gitlab-ci.yml must include this file:  include: [{local: .gitlab-ci.${name}.yml}]
${plan.hasCassettes ? '' : '# Keys of models are variables of the project; recorded calls (--cassette record) need none: then run agentci init --force again\n'}${name}:
  image: ${isPython ? 'python:3.13-trixie' : 'node:22'}
${isMatrix ? `${indent(parallel, 2)}\n` : ''}  script:
${indent(
  script.map((line) => `- ${yamlText(line)}`),
  4,
)}
  artifacts:
    when: always
    paths: [${at}agentci-results.json, ${at}agentci-report.html]
    reports:
      junit: ${at}agentci-results.xml
`;
}

/** A command with a colon or a quote in it would be read as something else. */
const yamlText = (line: string): string => (/[:#'"{}]/.test(line) ? `'${line.replaceAll("'", "''")}'` : line);

import {
  githubPlace,
  gitlabCache,
  gitlabHead,
  gitlabImage,
  gitlabScript,
  gitlabSetup,
  indent,
  type JobPlan,
  keepSteps,
  keyLines,
  MANAGERS,
  replayFlag,
  restoreSteps,
  saveSteps,
  setupSteps,
} from './job-lines.ts';
import { githubShards, gitlabShards } from './shard-jobs.ts';

export const CI_SYSTEMS = ['github', 'gitlab', 'none'] as const;
export type CiSystem = (typeof CI_SYSTEMS)[number];

/** The files of a CI job, by path. CI systems only look at the repository root. */
export function ciFiles(ci: CiSystem, plan: JobPlan): Record<string, string> {
  const { folder = '' } = plan;
  const root = folder === '' ? '' : '../'.repeat(folder.split('/').length);
  const name = folder === '' ? 'agentci' : `agentci-${folder.replace(/[^A-Za-z0-9._-]+/g, '-')}`;
  switch (ci) {
    case 'github':
      return {
        [`${root}.github/workflows/${name}.yml`]:
          plan.shards === undefined ? githubWorkflow(plan, name) : githubShards(plan, name),
      };
    case 'gitlab':
      return {
        [`${root}.gitlab-ci.${name}.yml`]:
          plan.shards === undefined ? gitlabJob(plan, name) : gitlabShards(plan, name),
        ...(plan.hasGitlab
          ? {}
          : { [`${root}.gitlab-ci.yml`]: `include:\n  - local: .gitlab-ci.${name}.yml\n` }),
      };
    case 'none':
      return {};
    default:
      throw new Error(`unhandled CI system: ${ci satisfies never}`);
  }
}

/** Steps to take before the job can pass, as sentences. */
export function jobNotes(ci: CiSystem, plan: JobPlan): string[] {
  const { project, folder = '' } = plan;
  const notes: string[] = [];
  if (ci === 'gitlab' && plan.hasGitlab)
    notes.push(
      `add it to .gitlab-ci.yml, or the job never runs: include: [{local: ${Object.keys(ciFiles(ci, plan))[0]!.replace(/^(\.\.\/)+/, '')}}]`,
    );
  if (ci !== 'none' && folder !== '')
    notes.push(`the job is at the root of the repository, and runs in ${folder}`);
  if (ci === 'none' || project.packageManager === undefined) return notes;
  const { add, install } = MANAGERS[project.packageManager];
  if (!project.hasAgentci)
    notes.push(`@agentci/agentci is not a dependency yet: ${add} @agentci/agentci`);
  if (project.lock === undefined)
    notes.push(`no lock file: run ${install} and commit it, then agentci init --force uses it`);
  return notes;
}

function githubWorkflow(plan: JobPlan, name: string): string {
  const { matrix, folder = '' } = plan;
  const isMatrix = matrix.length > 0;
  const spec = isMatrix ? `agents/\${{ matrix.agent }}/agentci_spec.yaml` : 'agentci_spec.yaml';
  const at = folder === '' ? '' : `${folder}/`;
  const state = {
    at: isMatrix ? `${at}agents/\${{ matrix.agent }}/` : at,
    key: isMatrix ? `${name}-\${{ matrix.agent }}` : name,
  };
  const steps = [
    ...setupSteps(plan),
    ...restoreSteps(state),
    '- name: Validate the spec',
    `  run: npx --no-install agentci validate ${spec}`,
    '- name: Run AgentCI',
    `  run: npx --no-install agentci test -c ${spec}${replayFlag(plan)} -f console -f json=agentci-results.json -f html=agentci-report.html -f markdown=agentci-summary.md`,
    ...keyLines(plan),
    ...keepSteps(at, isMatrix ? '-${{ matrix.agent }}' : ''),
    ...saveSteps(state),
  ];
  const strategy = [
    'strategy:',
    '  fail-fast: false',
    '  matrix:',
    `    agent: [${matrix.join(', ')}]`,
  ];
  return `name: AgentCI
on: [push, pull_request]

jobs:
  evaluate:
    runs-on: ubuntu-latest
${isMatrix ? `${indent(strategy, 4)}\n` : ''}${githubPlace(folder)}    steps:
${indent(steps.join('\n').split('\n'), 6)}
`;
}

function gitlabJob(plan: JobPlan, name: string): string {
  const { matrix, folder = '' } = plan;
  const at = folder === '' ? '' : `${folder}/`;
  const isMatrix = matrix.length > 0;
  const spec = isMatrix ? 'agents/$AGENT/agentci_spec.yaml' : 'agentci_spec.yaml';
  const script = [
    ...gitlabSetup(plan),
    `npx --no-install agentci validate ${spec}`,
    `npx --no-install agentci test -c ${spec}${replayFlag(plan)} -f console -f junit=agentci-results.xml -f json=agentci-results.json -f html=agentci-report.html`,
  ];
  const state = isMatrix ? { at: `${at}agents/$AGENT/`, key: `${name}-$AGENT` } : { at, key: name };
  const parallel = ['parallel:', '  matrix:', `    - AGENT: [${matrix.join(', ')}]`];
  return `${gitlabHead(plan, name)}${name}:
  image: ${gitlabImage(plan)}
${isMatrix ? `${indent(parallel, 2)}\n` : ''}${gitlabCache(state)}  script:
${gitlabScript(script)}
  artifacts:
    when: always
    paths: [${at}agentci-results.json, ${at}agentci-report.html]
    reports:
      junit: ${at}agentci-results.xml
`;
}

import { present } from '@agentci/lib/data';
import {
  CHECKOUT_STEP,
  githubPlace,
  gitlabCache,
  gitlabHead,
  gitlabImage,
  gitlabScript,
  gitlabSetup,
  indent,
  type JobPlan,
  keepSteps,
  keptPaths,
  keyLines,
  replayFlag,
  restoreSteps,
  saveSteps,
  setupSteps,
  yamlText,
} from './job-lines.ts';

const SPEC = 'agentci_spec.yaml';

/**
 * Without timings, all queries count as equally long. The file is always created, so that a shard
 * without it fails.
 */
const NO_TIMINGS = `test -f .agentci/timings.json || { mkdir -p .agentci && echo '{"schema":"agentci.timings/1","ms":{}}' > .agentci/timings.json; }`;

/**
 * One job that passes the same timings to every shard, one job per shard, and a merge job that runs
 * even if shards fail. If each shard read the cache itself, it could change in between, and shards
 * planned differently do not fit together.
 */
export function githubShards(plan: JobPlan, name: string): string {
  const { folder = '', shards = 1 } = plan;
  const at = folder === '' ? '' : `${folder}/`;
  const timings = timingSteps(at, name);
  const shard = shardSteps(plan, at);
  const merge = mergeSteps(plan, at, name);
  const numbers = Array.from({ length: shards }, (_, i) => i + 1);
  return `name: AgentCI
on: [push, pull_request]

jobs:
  plan:
    runs-on: ubuntu-latest
${githubPlace(folder)}    steps:
${indent(timings.join('\n').split('\n'), 6)}
  shard:
    needs: plan
    strategy:
      # A red shard does not cancel the others
      fail-fast: false
      matrix:
        shard: [${numbers.join(', ')}]
    runs-on: ubuntu-latest
${githubPlace(folder)}    steps:
${indent(shard.join('\n').split('\n'), 6)}
  merge:
    needs: shard
    if: always()
    runs-on: ubuntu-latest
${githubPlace(folder)}    steps:
${indent(merge.join('\n').split('\n'), 6)}
`;
}

/** Saves the timings for all shards. */
const timingSteps = (at: string, name: string): readonly string[] => [
  CHECKOUT_STEP,
  ...restoreSteps({ at, key: name }),
  '- name: Take the timings of the last run',
  `  run: ${yamlText(NO_TIMINGS)}`,
  '- name: Hand them to every shard',
  '  uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2',
  '  with:',
  '    name: agentci-timings',
  `    path: ${at}.agentci/timings.json`,
  '    include-hidden-files: true',
  '    overwrite: true',
];

const shardSteps = (plan: JobPlan, at: string): readonly string[] => [
  ...setupSteps(plan),
  '- uses: actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0',
  '  with:',
  '    name: agentci-timings',
  `    path: ${at}.agentci`,
  '- name: Validate the spec',
  `  run: npx --no-install agentci validate ${SPEC}`,
  '- name: Run the shard',
  `  run: npx --no-install agentci test -c ${SPEC}${replayFlag(plan)} --shard \${{ matrix.shard }}/${plan.shards ?? 1} -f console`,
  ...keyLines(plan),
  '- name: Keep the run for the merge',
  '  if: always()',
  '  uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2',
  '  with:',
  '    name: agentci-shard-${{ matrix.shard }}',
  `    path: ${at}.agentci/runs`,
  '    include-hidden-files: true',
  '    overwrite: true',
];

const mergeSteps = (plan: JobPlan, at: string, name: string): readonly string[] => [
  ...setupSteps(plan),
  ...restoreSteps({ at, key: name }),
  '- uses: actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0',
  '  # Without a single shard the merge itself says what is missing',
  '  continue-on-error: true',
  '  with:',
  '    pattern: agentci-shard-*',
  `    path: ${at}agentci-shards`,
  '- name: Merge the shards',
  '  run: npx --no-install agentci merge agentci-shards -f console -f json=agentci-results.json -f html=agentci-report.html -f markdown=agentci-summary.md',
  ...keepSteps(at, ''),
  ...saveSteps({ at, key: name }),
];

/** Like `githubShards`. GitLab numbers the jobs itself. */
export function gitlabShards(plan: JobPlan, name: string): string {
  const { folder = '', shards = 1 } = plan;
  const at = folder === '' ? '' : `${folder}/`;
  const shard = [
    ...gitlabSetup(plan),
    `npx --no-install agentci validate ${SPEC}`,
    `npx --no-install agentci test -c ${SPEC}${replayFlag(plan)} --shard $CI_NODE_INDEX/$CI_NODE_TOTAL -f console`,
  ];
  const merge = [
    ...gitlabSetup(plan),
    'npx --no-install agentci merge .agentci/runs -f console -f junit=agentci-results.xml -f json=agentci-results.json -f html=agentci-report.html',
  ];
  return `${gitlabHead(plan, name)}# Hands the same timings to every shard
${name}-plan:
  image: ${gitlabImage(plan)}
  cache:
    key: ${name}
    policy: pull
    unprotect: true
    paths: [${keptPaths(at)}]
  script:
${gitlabScript(present([folder === '' ? undefined : `cd ${folder}`, NO_TIMINGS]))}
  artifacts:
    paths: [${at}.agentci/timings.json]
${name}-shard:
  image: ${gitlabImage(plan)}
  needs: [${name}-plan]
  parallel: ${shards}
  script:
${gitlabScript(shard)}
  artifacts:
    when: always
    paths: [${at}.agentci/runs]
${name}-merge:
  image: ${gitlabImage(plan)}
  needs: [${name}-shard]
  # A red shard does not keep the others from being merged
${gitlabCache({ at, key: name }, 'always')}  script:
${gitlabScript(merge)}
  artifacts:
    when: always
    paths: [${at}agentci-results.json, ${at}agentci-report.html]
    reports:
      junit: ${at}agentci-results.xml
`;
}

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
  replayFlag,
  restoreSteps,
  saveSteps,
  setupSteps,
} from './job-lines.ts';

const SPEC = 'agentci_spec.yaml';

/** A job for each shard and one that joins them, whatever became of the shards. */
export function githubShards(plan: JobPlan, name: string): string {
  const { folder = '', shards = 1 } = plan;
  const at = folder === '' ? '' : `${folder}/`;
  const shard = [
    ...setupSteps(plan),
    '- name: Validate the spec',
    `  run: npx --no-install agentci validate ${SPEC}`,
    '- name: Run the shard',
    `  run: npx --no-install agentci test -c ${SPEC}${replayFlag(plan)} --shard \${{ matrix.shard }}/${shards} -f console`,
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
  const merge = [
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
  const numbers = Array.from({ length: shards }, (_, i) => i + 1);
  return `name: AgentCI
on: [push, pull_request]

jobs:
  shard:
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

/** As `githubShards`; GitLab numbers the jobs itself. */
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
  return `${gitlabHead(plan, name)}${name}-shard:
  image: ${gitlabImage(plan)}
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

import type { Project } from './project.ts';

export const RUNNERS = ['replay', 'command', 'module', 'http'] as const;
export type RunnerChoice = (typeof RUNNERS)[number];
export const CI_SYSTEMS = ['github', 'gitlab', 'none'] as const;
export type CiSystem = (typeof CI_SYSTEMS)[number];

export interface InitPlan {
  readonly agent: string;
  readonly runner: RunnerChoice;
  readonly ci: CiSystem;
  /** Agents for a matrix job, each with its spec in `agents/<name>/`. */
  readonly matrix: readonly string[];
  readonly project: Project;
}

/** The files of a fresh start, by path. */
export function starterFiles(plan: InitPlan): Record<string, string> {
  const files: Record<string, string> = {
    'agentci_spec.yaml': specText(plan),
    'traces/example.jsonl': `${JSON.stringify(EXAMPLE)}\n`,
  };
  if (plan.ci === 'github')
    files['.github/workflows/agentci.yml'] = plan.matrix.length > 0 ? githubMatrix(plan) : githubWorkflow(plan);
  if (plan.ci === 'gitlab') files['.gitlab-ci.agentci.yml'] = gitlabJob(plan);
  return files;
}

const EXAMPLE = {
  id: 'install',
  query: 'How do I install it?',
  answer: 'Run npm install and start the server.',
  tool_calls: [{ name: 'search_docs', args: { q: 'install' }, result: 'npm install', error: null, latency_ms: 40 }],
  llm_calls: [{ model: 'gpt-4o-mini', input_tokens: 320, output_tokens: 24 }],
  latency_ms: 900,
};

const RUNNER_TEXT: Record<RunnerChoice, (project: Project) => string> = {
  replay: () =>
    'runner:\n  replay: ./traces               # recordings; replace by your own, or run the agent:\n  # command: [python, agent.py]   # {"query": …} on stdin, the answer or a recording on stdout',
  command: ({ language }) =>
    `runner:\n  command: ${language === 'python' || language === undefined ? '[python, agent.py]' : '[node, agent.js]'}   # {"query": …} on stdin, the answer or a recording on stdout\n  timeout_ms: 60000`,
  module: ({ language }) =>
    `runner:\n  module: ./agent.${language === 'typescript' ? 'ts' : 'mjs'}            # export default async (query, { signal }) => answer or recording\n  timeout_ms: 60000`,
  http: () =>
    'runner:\n  http:\n    url: http://127.0.0.1:8080/ask\n    body: {query: "{{query}}"}\n    answer: /answer              # JSON pointer into the response',
};

function specText({ agent, runner, project }: InitPlan): string {
  const schema =
    project.packageManager === undefined
      ? undefined
      : './node_modules/@agentci/agentci/dist/schema/agentci-spec.schema.json';
  return `${schema === undefined ? '' : `# yaml-language-server: $schema=${schema}\n`}version: 1
agent: ${agent}
${RUNNER_TEXT[runner](project)}

defaults:
  cost:
    max_latency_ms: 10000

queries:
  - id: install
    query: How do I install it?
    tags: [smoke]
    correctness:                   # a failure stops the build
      expected_in_answer: [install]
    path:                          # warns, except for forbidden tools
      expected_tools: [search_docs]
      forbidden_tools: ["delete_*"]
      max_tool_calls: 3
    cost:                          # warns
      max_total_tokens: 2000
`;
}

const installLine = ({ packageManager, language }: Project): string[] => {
  const python = language === 'python' ? ['pip install -r requirements.txt'] : [];
  const node = {
    npm: ['npm ci'],
    pnpm: ['corepack enable', 'pnpm install --frozen-lockfile'],
    yarn: ['corepack enable', 'yarn install --immutable'],
    bun: ['npm install'],
  };
  return packageManager === undefined
    ? [...python, 'npm install --no-save @agentci/agentci']
    : [...node[packageManager], ...python];
};

const indent = (lines: readonly string[], spaces: number): string =>
  lines.map((line) => `${' '.repeat(spaces)}${line}`).join('\n');

/** Actions are named by commit: a tag can be moved to other code, a commit cannot. */
function githubSteps(project: Project, spec: string): string {
  return `      - uses: actions/checkout@11d5960a326750d5838078e36cf38b85af677262 # v4.4.0
      - uses: actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0
        with:
          node-version: 22
      - name: Install
        run: |
${indent(installLine(project), 10)}
      - name: Validate the spec
        run: npx agentci validate ${spec}
      - name: Run AgentCI
        run: npx agentci test -c ${spec} -f console -f json=agentci-results.json -f markdown=agentci-summary.md
        env:
          ANTHROPIC_API_KEY: \${{ secrets.ANTHROPIC_API_KEY }}
          OPENAI_API_KEY: \${{ secrets.OPENAI_API_KEY }}
      - name: Step summary
        if: always()
        run: cat agentci-summary.md >> "$GITHUB_STEP_SUMMARY" || true
      - name: Keep the results
        if: always()
        uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2
        with:
          name: agentci-results`;
}

const githubWorkflow = ({ project }: InitPlan): string => `name: AgentCI
on: [push, pull_request]

jobs:
  evaluate:
    runs-on: ubuntu-latest
    steps:
${githubSteps(project, 'agentci_spec.yaml')}
          path: agentci-results.json
`;

const githubMatrix = ({ project, matrix }: InitPlan): string => `name: AgentCI
on: [push, pull_request]

jobs:
  evaluate:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        agent: [${matrix.join(', ')}]
    steps:
${githubSteps(project, `agents/\${{ matrix.agent }}/agentci_spec.yaml`)}-\${{ matrix.agent }}
          path: agentci-results.json
`;

const gitlabJob = ({
  project,
}: InitPlan): string => `# include this from .gitlab-ci.yml:  include: [{local: .gitlab-ci.agentci.yml}]
agentci:
  image: node:22
  script:
${indent(
  installLine(project).map((line) => `- ${line}`),
  4,
)}
    - npx agentci validate agentci_spec.yaml
    - npx agentci test -f console -f junit=agentci-results.xml -f json=agentci-results.json
  artifacts:
    when: always
    paths: [agentci-results.json]
    reports:
      junit: agentci-results.xml
`;

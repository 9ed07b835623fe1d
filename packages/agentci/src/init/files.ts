import { type AgentLanguage, commandAgent, moduleAgent, type StarterAgent } from './agents.ts';
import { type CiSystem, ciFiles } from './ci-jobs.ts';
import type { Project } from './project.ts';

export const RUNNERS = ['replay', 'command', 'module', 'http'] as const;
export type RunnerChoice = (typeof RUNNERS)[number];

export interface InitPlan {
  readonly agent: string;
  readonly runner: RunnerChoice;
  readonly ci: CiSystem;
  /** Agents for a matrix job, each with a spec in `agents/<name>/`. */
  readonly matrix: readonly string[];
  readonly project: Project;
  /** Language of the agent that `command` runs. */
  readonly language: AgentLanguage;
  /** Captures the calls of the agent that `command` runs. */
  readonly capture?: boolean;
  /** Python command on this machine. */
  readonly python: string;
  /** Version of AgentCI. */
  readonly version: string;
  /** Path of the project in its repository. Empty at the root. */
  readonly folder?: string;
  /** The repository already has a .gitlab-ci.yml. */
  readonly hasGitlab?: boolean;
  readonly hasCassettes?: boolean;
  /** Number of jobs to split the suite into. */
  readonly shards?: number;
}

/** The initial files by path, including the specs. */
export interface Starter {
  readonly files: Readonly<Record<string, string>>;
  /**
   * Agents among the files. Existing agents are never overwritten, because they are the ones to
   * test.
   */
  readonly agents: readonly string[];
  readonly specs: readonly string[];
  /** The CI job among the files. */
  readonly jobs: readonly string[];
}

export function starterFiles(plan: InitPlan): Starter {
  const starter = starterAgent(plan);
  const isMatrix = plan.matrix.length > 0;
  const places = isMatrix
    ? plan.matrix.map((agent) => ({ agent, folder: `agents/${agent}/` }))
    : [{ agent: plan.agent, folder: '' }];
  const files: Record<string, string> = {};
  for (const { agent, folder } of places) {
    files[`${folder}agentci_spec.yaml`] = specText({ ...plan, agent }, starter, folder);
    if (starter) files[`${folder}${starter.file}`] = starter.text;
    if (plan.runner === 'replay')
      files[`${folder}traces/example.jsonl`] = `${JSON.stringify(EXAMPLE)}\n`;
  }
  const isPython =
    plan.project.language === 'python' || (plan.runner === 'command' && plan.language === 'python');
  const jobs = ciFiles(plan.ci, { ...plan, isPython });
  Object.assign(files, jobs);
  return {
    files,
    jobs: Object.keys(jobs),
    agents: starter ? places.map(({ folder }) => `${folder}${starter.file}`) : [],
    specs: places.map(({ folder }) => `${folder}agentci_spec.yaml`),
  };
}

const EXAMPLE = {
  id: 'install',
  query: 'How do I install it?',
  answer: 'Run npm install, then start the server.',
  tool_calls: [
    {
      name: 'search_docs',
      args: { q: 'install' },
      result: 'npm install',
      error: null,
      latency_ms: 40,
    },
  ],
  llm_calls: [{ model: 'gpt-4o-mini', input_tokens: 320, output_tokens: 24 }],
  latency_ms: 900,
};

function starterAgent({
  runner,
  language,
  python,
  project,
  capture = false,
}: InitPlan): StarterAgent | undefined {
  if (runner === 'command') return commandAgent(language, python, capture);
  return runner === 'module' ? moduleAgent(project) : undefined;
}

const REPLAY = `runner:
  replay: ./traces               # recordings; replace them with your own, or run the agent:
  # command: [python3, agent.py]  # {"query": …} on stdin, the answer or a recording on stdout`;
const HTTP = `runner:
  http:
    url: http://127.0.0.1:8080/ask
    body: {query: "{{query}}"}
    answer: /answer              # JSON pointer into the response`;

const PATH_AND_COST = `    path:                          # warns, except for forbidden tools
      expected_tools: [search_docs]
      forbidden_tools: ["delete_*"]
      max_tool_calls: 3
    cost:                          # warns
      max_total_tokens: 2000
`;
/** An endpoint that returns only its answer does not show its calls. */
const ANSWER_ONLY = `    # path:                        # once the response shows tool calls, or spans come by \`capture: [otlp]\`
    #   expected_tools: [search_docs]
    #   forbidden_tools: ["delete_*"]
`;

function specText(
  { agent, runner, project }: InitPlan,
  starter: StarterAgent | undefined,
  folder: string,
): string {
  const up = '../'.repeat(folder.split('/').length - 1) || './';
  const schema = `# yaml-language-server: $schema=${up}node_modules/@agentci/agentci/dist/schema/agentci-spec.schema.json\n`;
  return `${project.packageManager === undefined ? '' : schema}version: 1
agent: ${agent}
${starter?.runner ?? (runner === 'replay' ? REPLAY : HTTP)}

defaults:
  cost:
    max_latency_ms: 10000

queries:
  - id: install
    query: How do I install it?
    tags: [smoke]
    correctness:                   # a failure stops the build
      expected_in_answer: [install]
${runner === 'http' ? ANSWER_ONLY : PATH_AND_COST}`;
}

import type { Project } from './project.ts';

/** Languages for a starter agent. */
export const LANGUAGES = ['python', 'node'] as const;
export type AgentLanguage = (typeof LANGUAGES)[number];

/** A small runnable agent, and the lines of the spec that call it. */
export interface StarterAgent {
  readonly file: string;
  readonly text: string;
  /** The lines under `runner:`. */
  readonly runner: string;
}

/** A program that reads a query on stdin. */
export function commandAgent(
  language: AgentLanguage,
  python: string,
  isCaptured: boolean,
): StarterAgent {
  const isPython = language === 'python';
  const file = isPython ? 'agent.py' : 'agent.mjs';
  return {
    file,
    text: isPython ? PYTHON : NODE_COMMAND,
    runner: `runner:
  command: [${isPython ? python : 'node'}, ${file}]   # {"query": …} on stdin, the answer or a recording on stdout
  ${isCaptured ? '' : '# '}capture: auto   # sees tool calls, tokens and cost from outside, for an agent that prints only its answer
  timeout_ms: 60000`,
  };
}

/** A module whose default export answers a query. */
export function moduleAgent({ language }: Project): StarterAgent {
  const isTypescript = language === 'typescript';
  const file = isTypescript ? 'agent.ts' : 'agent.mjs';
  return {
    file,
    text: isTypescript ? TYPESCRIPT_MODULE : NODE_MODULE,
    runner: `runner:
  module: ./${file}            # export default async (query, { signal }) => answer or recording
  timeout_ms: 60000`,
  };
}

const PYTHON = `"""A small agent to start from. Replace the body of answer() with a call to your own agent.

AgentCI starts this program once per query. It reads one JSON object on stdin and prints one on stdout.
"""

import json
import sys

DOCS = {
    "install": "Run npm install, then start the server.",
    "license": "It is licensed under Apache-2.0.",
}


def search_docs(text):
    """The agent's only tool: looks a word up."""
    return next((page for word, page in DOCS.items() if word in text.lower()), "")


def answer(query):
    page = search_docs(query)
    return {
        "answer": page or "I do not know.",
        # Name the tools and models your agent called: that is what path and cost checks look at.
        "tool_calls": [{"name": "search_docs", "args": {"q": query}, "result": page}],
        "llm_calls": [],  # {"model": "…", "input_tokens": 320, "output_tokens": 24}
    }


if __name__ == "__main__":
    request = json.load(sys.stdin)
    print(json.dumps(answer(request["query"])))
`;

/** The part shared by both JavaScript agents. Only TypeScript gets types. */
const body = (type: string): string => `const DOCS = {
  install: 'Run npm install, then start the server.',
  license: 'It is licensed under Apache-2.0.',
};

/** The agent's only tool: looks a word up. */
function searchDocs(text${type})${type} {
  return Object.entries(DOCS).find(([word]) => text.toLowerCase().includes(word))?.[1] ?? '';
}
`;

const answerBody = `  const page = searchDocs(query);
  return {
    answer: page || 'I do not know.',
    // Name the tools and models your agent called: that is what path and cost checks look at.
    tool_calls: [{ name: 'search_docs', args: { q: query }, result: page }],
    llm_calls: [], // { model: '…', input_tokens: 320, output_tokens: 24 }
  };
}
`;

const NODE_COMMAND = `// A small agent to start from. Replace the body of answer() with a call to your own agent.
// AgentCI starts this program once per query. It reads one JSON object on stdin and prints one on stdout.
import { readFileSync } from 'node:fs';

${body('')}
function answer(query) {
${answerBody}
const request = JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify(answer(request.query)));
`;

const NODE_MODULE = `// A small agent to start from. Replace the body of agent() with a call to your own agent.

${body('')}
export default async function agent(query) {
${answerBody}`;

const TYPESCRIPT_MODULE = `// A small agent to start from. Replace the body of agent() with a call to your own agent.

${body(': string')}
export default async function agent(query: string) {
${answerBody}`;

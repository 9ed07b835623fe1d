import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** What can be seen of a project from its files. */
export interface Project {
  readonly name: string;
  readonly packageManager: 'npm' | 'pnpm' | 'yarn' | 'bun' | undefined;
  readonly language: 'typescript' | 'javascript' | 'python' | undefined;
  /** The agent framework, by the dependency that gives it away. */
  readonly framework: string | undefined;
}

const LOCKS = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lockb', 'bun'],
  ['bun.lock', 'bun'],
  ['package.json', 'npm'],
] as const;

const FRAMEWORKS = [
  ['@langchain/langgraph', 'LangGraph'],
  ['@openai/agents', 'OpenAI Agents SDK'],
  ['@mastra/core', 'Mastra'],
  ['@anthropic-ai/claude-agent-sdk', 'Claude Agent SDK'],
  ['ai', 'Vercel AI SDK'],
  ['@modelcontextprotocol/sdk', 'MCP'],
  ['langgraph', 'LangGraph'],
  ['openai-agents', 'OpenAI Agents SDK'],
  ['crewai', 'CrewAI'],
  ['pydantic-ai', 'Pydantic AI'],
  ['autogen-agentchat', 'AutoGen'],
  ['google-adk', 'Google ADK'],
  ['strands-agents', 'Strands'],
  ['langchain', 'LangChain'],
] as const;

/** Looks at lock files and dependency lists; nothing is run. */
export function detectProject(dir: string): Project {
  const dependencies = new Set([...nodeDependencies(dir), ...pythonDependencies(dir)]);
  const isPython = ['pyproject.toml', 'requirements.txt'].some((name) => existsSync(join(dir, name)));
  const isNode = existsSync(join(dir, 'package.json'));
  return {
    name: projectName(dir),
    packageManager: LOCKS.find(([file]) => existsSync(join(dir, file)))?.[1],
    language: isNode
      ? existsSync(join(dir, 'tsconfig.json'))
        ? 'typescript'
        : 'javascript'
      : isPython
        ? 'python'
        : undefined,
    framework: FRAMEWORKS.find(([name]) => dependencies.has(name))?.[1],
  };
}

function projectName(dir: string): string {
  const name = readJson(join(dir, 'package.json'))?.name;
  const raw = typeof name === 'string' ? name.replace(/^@[^/]+\//, '') : basename(dir);
  return (
    raw
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .replace(/^[^a-z0-9]+|-+$/g, '') || 'my-agent'
  );
}

function nodeDependencies(dir: string): string[] {
  const manifest = readJson(join(dir, 'package.json'));
  return ['dependencies', 'devDependencies'].flatMap((key) =>
    Object.keys((manifest?.[key] as object | undefined) ?? {}),
  );
}

/** Names at the start of requirement lines and of quoted strings: enough to recognise a framework. */
function pythonDependencies(dir: string): string[] {
  return ['requirements.txt', 'pyproject.toml'].flatMap((file) => {
    const path = join(dir, file);
    if (!existsSync(path)) return [];
    return [...readFileSync(path, 'utf8').matchAll(/(?:^|["'])\s*([A-Za-z0-9][\w.-]*)/gm)].map(([, name]) =>
      name!.toLowerCase(),
    );
  });
}

function readJson(path: string): Record<string, unknown> | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

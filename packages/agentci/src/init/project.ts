import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Project properties detected from its files. */
export interface Project {
  readonly name: string;
  readonly packageManager: 'npm' | 'pnpm' | 'yarn' | 'bun' | undefined;
  readonly language: 'typescript' | 'javascript' | 'python' | undefined;
  /** The lock file of the package manager, if any. */
  readonly lock: string | undefined;
  /** Yarn 1 has different flags than later versions. */
  readonly isClassicYarn: boolean;
  /** AgentCI is a dependency in package.json. */
  readonly hasAgentci: boolean;
  /** File that lists the Python dependencies. */
  readonly pythonManifest: 'requirements.txt' | 'pyproject.toml' | undefined;
  /** pyproject.toml has a build system, so the project can be installed as a package. */
  readonly isPythonPackage: boolean;
  /** The agent framework, recognized by its dependency. */
  readonly framework: string | undefined;
}

const LOCKS = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lockb', 'bun'],
  ['bun.lock', 'bun'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
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

/** Reads lock files and dependency lists. Runs nothing. */
export function detectProject(dir: string): Project {
  const has = (name: string) => existsSync(join(dir, name));
  const ofNode = nodeDependencies(dir);
  const dependencies = new Set([...ofNode, ...pythonDependencies(dir)]);
  const pythonManifest = (['requirements.txt', 'pyproject.toml'] as const).find(has);
  const isNode = has('package.json');
  // A package.json with only AgentCI was created to install it and does not make this a Node
  // project.
  const isOnlyForUs = ofNode.every((name) => name === '@agentci/agentci') && !has('tsconfig.json');
  const isPython = pythonManifest !== undefined || hasPythonFile(dir);
  const [lock, manager] = (isNode && LOCKS.find(([file]) => has(file))) || [];
  return {
    name: projectName(dir),
    packageManager: manager ?? (isNode ? declaredManager(dir) : undefined),
    lock,
    isClassicYarn:
      lock === 'yarn.lock' && readFileSync(join(dir, lock), 'utf8').includes('# yarn lockfile v1'),
    hasAgentci: ofNode.includes('@agentci/agentci'),
    language: languageOf({
      isPython,
      isNode: isNode && !(isPython && isOnlyForUs),
      isTyped: has('tsconfig.json'),
    }),
    pythonManifest,
    isPythonPackage:
      pythonManifest === 'pyproject.toml' && hasBuildSystem(join(dir, pythonManifest)),
    framework: FRAMEWORKS.find(([name]) => dependencies.has(name))?.[1],
  };
}

function languageOf(found: {
  isPython: boolean;
  isNode: boolean;
  isTyped: boolean;
}): Project['language'] {
  if (found.isNode) return found.isTyped ? 'typescript' : 'javascript';
  return found.isPython ? 'python' : undefined;
}

const hasPythonFile = (dir: string): boolean =>
  readdirSync(dir).some((name) => name.endsWith('.py'));

/** Has a build system. Without it, pip guesses, and fails on folders without Python. */
const hasBuildSystem = (path: string): boolean =>
  /^\s*\[build-system\]/m.test(readFileSync(path, 'utf8'));

/** Without a lock file, the package manager is the one package.json names (`"packageManager": "pnpm@10"`), else npm. */
function declaredManager(dir: string): NonNullable<Project['packageManager']> {
  const declared = String(readJson(join(dir, 'package.json'))?.packageManager ?? '').split(
    '@',
    1,
  )[0];
  return (['pnpm', 'yarn', 'bun'] as const).find((name) => name === declared) ?? 'npm';
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

/**
 * Names at the start of requirement lines and of quoted strings. Enough to recognize a framework.
 */
function pythonDependencies(dir: string): string[] {
  return ['requirements.txt', 'pyproject.toml'].flatMap((file) => {
    const path = join(dir, file);
    if (!existsSync(path)) return [];
    return [...readFileSync(path, 'utf8').matchAll(/(?:^|["'])\s*([A-Za-z0-9][\w.-]*)/gm)].map(
      ([, name]) => name!.toLowerCase(),
    );
  });
}

function readJson(path: string): Record<string, unknown> | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return value !== null && typeof value === 'object'
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

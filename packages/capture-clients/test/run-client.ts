import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type CaptureOptions, type CaptureResult, createCapture } from '@agentci/capture';
import { pythonFor } from './pythons.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Runs one of the agents in a process behind a capture. Returns its output and the captured data.
 */
export async function runClient(
  agent: readonly string[],
  env: Readonly<Record<string, string>>,
  options: Partial<CaptureOptions> = {},
): Promise<CaptureResult & { readonly answer: string; readonly notes: readonly string[] }> {
  const { PATH, HOME } = process.env;
  const capture = createCapture({
    planes: ['llm'],
    env: { PATH, HOME, ...env },
    cwd: here('.'),
    command: ['node'],
    ...options,
  });
  const slot = await capture.open();
  try {
    const answer = await runAgent(agent, slot.env);
    return { ...(await slot.end('itself')), answer, notes: capture.notes.map((note) => note.code) };
  } finally {
    await slot.close();
    await capture.close();
  }
}

/** Runs one of the agents with this environment. Returns its output. */
export async function runAgent(
  agent: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const [file = '', ...args] = agent;
  const isPython = file.endsWith('.py');
  const command = isPython
    ? [pythonFor(args[0]!) ?? 'python3', here(`../agents/${file}`)]
    : [process.execPath, here('../run.mjs'), file];
  const child = spawn(command[0]!, [...command.slice(1), ...args], {
    env: env as NodeJS.ProcessEnv,
  });
  let answer = '';
  let errors = '';
  child.stdout.on('data', (chunk) => {
    answer += chunk;
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${agent.join(' ')} exited with ${code}: ${errors}`);
  return answer;
}

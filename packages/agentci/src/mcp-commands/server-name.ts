import { basename } from 'node:path';

const RUNTIMES =
  /^(?:node|nodejs|bun|deno|python[\d.]*|uv|uvx|npx|bunx|pnpm|yarn|tsx|ruby|java|sh|bash|cmd|docker)(?:\.exe)?$/i;

/** Default name of a server: its program, or the script of a runtime. */
export function serverName(command: readonly string[], url: string | undefined): string {
  if (url !== undefined) return cleanName(new URL(url).hostname);
  const [program = 'server', ...args] = command;
  const script = RUNTIMES.test(basename(program))
    ? args.find((arg) => !arg.startsWith('-'))
    : undefined;
  return cleanName(basename(script ?? program).replace(/\.[a-z]{1,4}$/i, ''));
}

/** Makes a name safe as part of a file name. */
export const cleanName = (name: string): string =>
  name.replace(/[^\w.-]+/g, '-').replace(/^[.-]+/, '') || 'server';

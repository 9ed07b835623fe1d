import { basename } from 'node:path';
import type { CaptureNote } from './plane.ts';

/** Special settings for a known program, and the changes the capture makes to it. */
export interface KnownAgent {
  readonly set: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly notes: readonly CaptureNote[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** Recognizes programs that behave differently with a custom address. */
export function knownAgent(
  command: readonly string[],
  set: Readonly<Record<string, string>>,
  env: Env,
): KnownAgent {
  const program = basename(command[0] ?? '').replace(/\.(?:exe|cmd)$/i, '');
  if (program === 'claude' && set.ANTHROPIC_BASE_URL !== undefined)
    return {
      set: env.ENABLE_TOOL_SEARCH === undefined ? { ENABLE_TOOL_SEARCH: 'true' } : {},
      args: [],
      notes: [
        {
          code: 'CAPTURE_CLAUDE_CODE',
          message:
            'Claude Code leaves out beta headers and the one-hour cache behind an address that is not Anthropic’s, so its cost can differ from a direct run; tool search was switched on again',
        },
      ],
    };
  if (program === 'codex' && set.OPENAI_BASE_URL !== undefined)
    return {
      set: {},
      args: ['-c', `openai_base_url=${JSON.stringify(set.OPENAI_BASE_URL)}`],
      notes: [
        {
          code: 'CAPTURE_CODEX',
          message:
            'Codex reads no variable: its address was set with -c openai_base_url; it uses HTTP instead of a WebSocket',
        },
      ],
    };
  return { set: {}, args: [], notes: [] };
}

import { expect, it } from 'vitest';
import { knownAgent } from './known-agents.ts';

const SET = { ANTHROPIC_BASE_URL: 'http://a', OPENAI_BASE_URL: 'http://o/v1' };

it('switches tool search of Claude Code on again, and says what differs', () => {
  expect(knownAgent(['/usr/bin/claude', '-p', 'hi'], SET, {})).toMatchObject({
    set: { ENABLE_TOOL_SEARCH: 'true' },
    args: [],
    notes: [{ code: 'CAPTURE_CLAUDE_CODE' }],
  });
});

it('leaves tool search as the user has set it', () => {
  expect(knownAgent(['claude'], SET, { ENABLE_TOOL_SEARCH: 'false' }).set).toEqual({});
});

it('gives Codex its address as an argument, since it reads no variable', () => {
  expect(knownAgent(['codex.cmd', 'exec', 'hi'], SET, {})).toMatchObject({
    args: ['-c', 'openai_base_url="http://o/v1"'],
    notes: [{ code: 'CAPTURE_CODEX' }],
  });
});

it.each([
  ['any other program', ['python', 'claude.py'], SET],
  ['Claude Code without Anthropic', ['claude'], {}],
  ['no program', [], SET],
])('changes nothing for %s', (_, command, set) => {
  expect(knownAgent(command, set, {})).toEqual({ set: {}, args: [], notes: [] });
});

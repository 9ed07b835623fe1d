import { describe, expect, test } from 'vitest';
import { evaluateArguments } from './evaluate-arguments.ts';
import { evaluateBlocklist } from './evaluate-blocklist.ts';
import { evaluateRules } from './evaluate-rules.ts';

// Coding agents write `mcp__files__read`. Traces have `read` and the recorded name. A policy may
// use either.
const calls = [{ name: 'read', rawName: 'mcp__files__read', args: { path: '/etc/passwd' } }];

describe('a tool of an MCP server', () => {
  test.each(['read', 'mcp__files__read', 'mcp__*', 'r*'])('is blocked by %s', (pattern) => {
    expect(evaluateBlocklist({ calls, blocklist: [pattern] }).status).toBe('fail');
  });

  test.each(['read', 'mcp__files__read'])('has its arguments checked under %s', (name) => {
    const policy = {
      tools: { [name]: { arguments: { path: { type: 'string', pattern: '^/srv/' } } } },
    };
    expect(evaluateArguments({ calls, policy }).status).toBe('fail');
  });

  test.each(['read', 'mcp__files__*'])('is denied and allowed by %s', (name) => {
    expect(evaluateArguments({ calls, policy: { tools: { deny: [name] } } }).status).toBe('fail');
    expect(evaluateArguments({ calls, policy: { tools: { allow: [name] } } }).status).toBe('pass');
    expect(evaluateArguments({ calls, policy: { tools: { allow: ['other'] } } }).status).toBe(
      'fail',
    );
  });

  test.each(['read', 'mcp__files__read', 'mcp__*'])(
    'breaks an order rule that says %s, once',
    (name) => {
      const result = evaluateRules({
        calls,
        rules: [{ type: 'max_calls', tool: name, max: 0 } as never],
      });
      expect(result.status).toBe('fail');
    },
  );
});

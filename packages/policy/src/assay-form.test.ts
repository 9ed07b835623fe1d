import { describe, expect, test } from 'vitest';
import { explainCalls } from './explain.ts';
import { parsePolicy } from './parse-policy.ts';

const verdicts = (text: string, calls: { name: string; args: unknown }[]): string => {
  const { policy, diagnostics } = parsePolicy(text);
  if (policy === undefined) return diagnostics.map(({ code, line }) => `${code}:${line}`).join(' ');
  return explainCalls({ policy, calls })
    .calls.map(({ verdict }) => verdict)
    .join(' ');
};

const call = (name: string, args: unknown = {}) => ({ name, args });

describe('policies as Assay writes them', () => {
  test.each([
    [
      'lists at the root',
      'allow: ["read_*"]\ndeny: [read_secret]\n',
      [call('read_a'), call('read_secret'), call('write')],
      'allowed blocked blocked',
    ],
    [
      'explicit nulls',
      'version: "2.0"\ntools: {allow: ["*"], deny: [exec]}\nallow: null\ndeny: ~\nconstraints: []\nlimits: null\nsignatures: null\n',
      [call('exec'), call('x')],
      'blocked allowed',
    ],
    [
      'nulls inside of limits',
      'deny: [x]\nlimits: {max_tool_calls_total: ~, max_requests_total: 1}\n',
      [call('a'), call('b')],
      'allowed blocked',
    ],
    [
      'constraints as a map',
      'constraints: {read: {path: "^/app/"}}\n',
      [call('read', { path: '/app/x' }), call('read', { path: '/etc' }), call('read')],
      'allowed blocked blocked',
    ],
    [
      'constraints as a list',
      'constraints:\n  - {tool: read, params: {path: {matches: "^/app/"}}}\n',
      [call('read', { path: '/app/x' }), call('read', { path: '/etc' })],
      'allowed blocked',
    ],
    [
      'constraints under tools',
      'tools:\n  deny: [rm]\n  arg_constraints: {read: {path: {pattern: "^/app/"}}}\non_error: block\n',
      [call('read', { path: '/etc' }), call('rm')],
      'blocked blocked',
    ],
    [
      'a plain map of schemas',
      'pay:\n  type: object\n  properties: {n: {type: integer, maximum: 3}}\n',
      [call('pay', { n: 3 }), call('pay', { n: 4 })],
      'allowed blocked',
    ],
    [
      'a reference through the whole policy',
      'schemas:\n  $defs: {small: {type: integer, maximum: 3}}\n  pay: {type: object, properties: {n: {$ref: "#/schemas/$defs/small"}}}\n',
      [call('pay', { n: 3 }), call('pay', { n: 4 })],
      'allowed blocked',
    ],
    [
      'an empty list of denied tools beside another',
      'version: "2.0"\ntools: {allow: [a], deny: []}\n',
      [call('a'), call('b')],
      'allowed blocked',
    ],
    ['an empty list of denied tools alone', 'tools: {deny: []}\n', [], 'POLICY_CANNOT_FAIL:1'],
    [
      'one schema of no tool',
      'type: object\nproperties: {n: {type: integer}}\n',
      [],
      'POLICY_VALUE:1',
    ],
    [
      'what is not enforced',
      'deny: [x]\nkill_switch: {enabled: true}\n',
      [],
      'POLICY_NOT_ENFORCED:2',
    ],
    ['errors that let calls through', 'deny: [x]\non_error: allow\n', [], 'POLICY_NOT_ENFORCED:2'],
    [
      'patterns that deny',
      'constraints: {run: {deny_patterns: {cmd: "^rm"}}}\n',
      [],
      'POLICY_UNKNOWN_KEY:1',
    ],
  ])('%s', (_, text, calls, wanted) => {
    expect(verdicts(text, calls)).toBe(wanted);
  });
});

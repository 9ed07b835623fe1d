import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explainAudit, explainCalls, parsePolicy, readAudit } from '@agentci/policy';
import { tempDir } from '@agentci/testing/temp-dir';
import vectors from '@agentci/testing/vectors/policy.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';
import { before, connect } from './mcp.ts';

interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
}
const OLDER = '2025-06-18';

/**
 * Makes calls through a client, a guard and a server of the SDK. Returns the refused calls, and the
 * `explain` report of the audit.
 */
async function live(
  policy: object,
  calls: readonly Call[],
  {
    flags = [],
    version,
  }: { readonly flags?: readonly string[]; readonly version?: string | undefined } = {},
) {
  const cwd = tempDir({ 'policy.json': policy });
  const args = before(['guard', '--policy', 'policy.json', '--audit', 'audit.jsonl', ...flags]);
  const tools = [...new Set(calls.map(({ name }) => name))].join(',');
  const client = await connect(args, { cwd, env: { TOOLS: tools }, version });
  await client.listTools();
  const refused: boolean[] = [];
  for (const { name, args: given } of calls) {
    const { _meta } = await client.callTool({ name, arguments: given });
    refused.push(_meta?.['agentci/decision'] !== undefined);
  }
  await client.close();
  await expect
    .poll(() => readFileSync(join(cwd, 'audit.jsonl'), 'utf8'), { timeout: 8000 })
    .toContain('"event":"end"');
  const parsed = parsePolicy(JSON.stringify(policy), { file: 'policy.json' }).policy!;
  const [session] = readAudit(readFileSync(join(cwd, 'audit.jsonl'), 'utf8'), 'audit.jsonl');
  const { audit } = explainAudit(session!, parsed, 'audit.jsonl');
  return { refused, audit };
}

/** The offline verdict of the same policy on the allowed calls and the next one. */
function offline(policy: object, calls: readonly Call[]): boolean[] {
  const parsed = parsePolicy(JSON.stringify(policy), { file: 'policy.json' }).policy!;
  const made: Call[] = [];
  return calls.map((call) => {
    const { verdict } = explainCalls({
      policy: parsed,
      calls: [...made, call],
      complete: false,
    }).calls.at(-1)!;
    const isRefused = verdict === 'blocked' || verdict === 'unknown';
    if (!isRefused) made.push(call);
    return isRefused;
  });
}

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly input: Record<string, unknown>;
  readonly expected: unknown;
}

/** Vectors with a policy and calls that a client can make. */
const CASES = (vectors as unknown as Row[]).flatMap(({ id, kind, input, expected }) => {
  const policyAndCalls = (): { policy: object; calls: unknown[] } | undefined => {
    if ((kind === 'seq.rules' || kind === 'explain') && input.rules !== undefined)
      return { policy: { rules: input.rules }, calls: input.calls as [] };
    if (kind === 'args.policy_v2' || kind === 'policy.decide')
      return { policy: input.policy as object, calls: [input.call] };
    if (kind === 'args.seed_policy' && input.options === undefined)
      return { policy: input.policy as object, calls: input.calls as [] };
    if (kind === 'blocklist' && input.tool !== undefined)
      return { policy: { blocklist: input.blocklist }, calls: [input.tool] };
    return undefined;
  };
  const found = (expected as { config_error?: true }).config_error ? undefined : policyAndCalls();
  if (
    found === undefined ||
    parsePolicy(JSON.stringify(found.policy), { file: 'p' }).policy === undefined
  )
    return [];
  const calls = found.calls
    .filter((call) => call !== undefined)
    .map((call): Call => {
      if (typeof call === 'string') return { name: call, args: {} };
      const { tool, name, arguments: given, args } = call as Record<string, unknown>;
      return { name: String(tool ?? name), args: (given ?? args ?? {}) as Call['args'] };
    });
  return calls.length === 0 || calls.some(({ name }) => !/^[\w-]+$/.test(name))
    ? []
    : [{ id, ...found, calls }];
});

test('the vectors are judged through the SDK as offline, in two protocol versions', async () => {
  expect(CASES.length).toBeGreaterThan(30);
  const queue = [...CASES.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [i, { id, policy, calls }] = next;
      const { refused, audit } = await live(policy, calls, {
        version: i % 2 === 0 ? undefined : OLDER,
      });
      expect([id, refused]).toEqual([id, offline(policy, calls)]);
      expect([id, audit]).toMatchObject([id, { differs: [], not_told: 0 }]);
    }
  };
  await Promise.all([work(), work(), work()]);
}, 120_000);

const call = (name: string, args: Record<string, unknown> = {}): Call => ({ name, args });
const rule = (written: object): object => ({ rules: [written] });
const MAIL = 'The launch of project Falcon moves to the 3rd of May, keep this confidential.';

describe('every kind of rule, end to end, in two protocol versions by turns', () => {
  let isOlder = false;
  test.each<[string, object, readonly Call[], readonly boolean[], (readonly string[])?]>([
    ['allowed tools', { tools: { allow: ['a'] } }, [call('a'), call('b')], [false, true]],
    [
      'arguments',
      { tools: { a: { arguments: { n: { type: 'number', max: 3 } } } } },
      [call('a', { n: 3 }), call('a', { n: 4 })],
      [false, true],
    ],
    ['limits', { limits: { max_tool_calls_total: 1 } }, [call('a'), call('b')], [false, true]],
    [
      'blocklist',
      rule({ type: 'blocklist', tools: [{ tool: 'a', args_match: { c: 'rm' } }] }),
      [call('a', { c: ['rm'] }), call('a', { c: 'ls' })],
      [true, false],
    ],
    ['allowlist', rule({ type: 'allowlist', tools: ['a'] }), [call('a'), call('b')], [false, true]],
    [
      'before',
      rule({ type: 'before', first: 'a', then: 'b' }),
      [call('b'), call('a'), call('b')],
      [true, false, false],
    ],
    [
      'immediately_before',
      rule({ type: 'immediately_before', first: 'a', then: 'b' }),
      [call('a'), call('c'), call('b')],
      [false, false, true],
    ],
    [
      'never_after',
      rule({ type: 'never_after', trigger: 'a', forbidden: 'b' }),
      [call('b'), call('a'), call('b')],
      [false, false, true],
    ],
    [
      'max_calls',
      rule({ type: 'max_calls', tool: 'a', max: 1 }),
      [call('a'), call('a')],
      [false, true],
    ],
    [
      'count',
      rule({ type: 'count', tool: 'a', max: 1, when: 'args.n > 1' }),
      [call('a', { n: 2 }), call('a', { n: 1 }), call('a', { n: 2 })],
      [false, false, true],
    ],
    [
      'sequence',
      rule({ type: 'sequence', tools: ['a', 'b', 'c'] }),
      [call('a'), call('c')],
      [false, true],
    ],
    [
      'expr',
      rule({ type: 'expr', tool: 'a', expr: 'previous.size() < 1' }),
      [call('a'), call('a')],
      [false, true],
    ],
    [
      'agents',
      rule({ type: 'blocklist', tools: ['a'], agents: ['billing_*'] }),
      [call('a')],
      [true],
      ['--agent', 'billing_x'],
    ],
    [
      'detect in arguments',
      rule({ type: 'detect', secrets: true, pii: true }),
      [call('a', { 'bob@example.org': 1 }), call('a')],
      [true, false],
    ],
    [
      'detect in results',
      rule({ type: 'detect', in: 'result', pattern: 'EVIL' }),
      [call('a', { x: 'EVIL' }), call('a')],
      [true, false],
    ],
    [
      'flows',
      { flows: [{ from: { tool: 'a' }, to: { tool: 'b' }, allow: false }] },
      [call('a', { x: MAIL }), call('b', { y: MAIL })],
      [false, true],
    ],
    [
      'tool_definition',
      rule({ type: 'tool_definition' }),
      [call('add'), call('Add'), call('other')],
      [true, true, false],
    ],
  ])(
    '%s',
    async (_, policy, calls, expected, flags = []) => {
      isOlder = !isOlder;
      const { refused, audit } = await live(policy, calls, {
        flags,
        version: isOlder ? OLDER : undefined,
      });
      expect(refused).toEqual(expected);
      expect(audit).toMatchObject({ differs: [], not_told: 0 });
    },
    30_000,
  );
});

import { UserError } from '@agentci/lib/problems';
import type { Policy } from '@agentci/policy';
import { LiveJudge, parsePolicy } from '@agentci/policy';
import { type AuditEntry, NO_AUDIT } from './audit.ts';
import { Guard } from './guard.ts';

const NAME = 'agentci_self_test';
const FORBIDS = `tools: {deny: [${NAME}]}\nrules: [{type: max_calls, tool: allowed, max: 1}]\n`;

/**
 * Proves before the first forwarded byte that a forbidden call is refused: by name, by order, and
 * if hidden in another message. The user's policy must be able to judge a call without an error.
 */
export function testGuard(policy: Policy, strict: boolean): void {
  const failed = (what: string): UserError =>
    new UserError('INTERNAL_FAULT', `the guard did not start: ${what}`, {
      hint: 'this is a defect of the guard; nothing was passed on',
    });
  const forbids = parsePolicy(FORBIDS, { file: 'self-test' }).policy;
  if (forbids === undefined) throw failed('its own policy was not read');
  const lines: AuditEntry[] = [];
  const guard = new Guard({
    policy: forbids,
    mode: 'enforce',
    strict: false,
    denyAs: 'result',
    server: undefined,
    audit: { ...NO_AUDIT, add: (entry) => lines.push(entry) },
    auditArgs: 'redacted',
    onProblem: () => {},
  });
  const session = guard.open('self-test');
  const isPassed = (text: string): boolean =>
    guard.fromClient(Buffer.from(`${text}\n`), session).forward !== undefined;
  const call = (id: number, name: string): string =>
    JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } });
  if (isPassed(call(1, NAME))) throw failed('a denied tool was let through');
  if (!isPassed(call(2, 'allowed'))) throw failed('a call was refused that nothing forbids');
  if (isPassed(call(3, 'allowed'))) throw failed('a call beyond its limit was let through');
  if (isPassed(`{"method":"tools/call",${call(4, NAME).slice(1)}`))
    throw failed('a key given twice was let through');
  if (lines.length !== 5) throw failed('its decisions were not noted');
  try {
    new LiveJudge(policy, { strict }).judge({ name: NAME, args: {} });
  } catch (error) {
    throw failed(`the policy cannot be evaluated: ${(error as Error).message}`);
  }
}

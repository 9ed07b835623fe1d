import { resolve } from 'node:path';
import { sha256Hex } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine } from '@agentci/lib/text';
import {
  Guard,
  guardStdio,
  NO_AUDIT,
  openAudit,
  pumpStdio,
  startServer,
  testGuard,
} from '@agentci/mcp';
import { namesWithServer, openRules, type Policy } from '@agentci/policy';
import type { Io } from '../cli/io.ts';
import { loadPolicy } from '../policy-command/load-policy.ts';
import { closingLine } from './closing-line.ts';
import { type GuardFlags, LEFT_OPEN } from './flags.ts';
import { clientStreams, parentId } from './streams.ts';

/**
 * Guards the messages between a client and a server until one of them disconnects. Passes nothing
 * on until a self-test has shown that the guard refuses.
 */
export async function runGuard(
  command: readonly string[],
  flags: GuardFlags,
  io: Io,
): Promise<number> {
  const strict = flags.strict ?? false;
  const policy = guardPolicy(command, flags, io);
  testGuard(policy, strict);
  const say = (text: string): void =>
    io.stderr.write(`agentci guard: ${escapeTerminalLine(text)}\n`);
  const mode = flags.mode ?? 'enforce';
  const audit =
    flags.audit === undefined ? NO_AUDIT : openAudit(resolve(io.cwd, flags.audit), io.now);
  const guard = new Guard({
    policy,
    mode,
    strict,
    denyAs: flags.denyAs ?? 'result',
    server: flags.server,
    audit,
    auditArgs: flags.auditArgs ?? 'redacted',
    agent: flags.agent,
    now: io.now,
    onProblem: say,
    // Hashing needs a module that a guard without an audit does not load.
    policyHash: flags.audit === undefined ? undefined : sha256Hex(policy.sources.join('\0')),
  });
  const place = (line: number | null): string => (line === null ? '' : ` (${policy.file}:${line})`);
  if (mode === 'shadow') say('shadow mode: nothing is refused');
  for (const { rule, expected, policy_line } of openRules(policy))
    say(
      `cannot be enforced by refusing calls: ${rule}${place(policy_line)} wants ${expected} (${LEFT_OPEN})`,
    );
  try {
    if (flags.url !== undefined) {
      const { serveGuard } = await import('./serve-guard.ts');
      return await serveGuard(guard, flags.url, { flags, io, say });
    }
    const session = guard.open('1');
    const server = await startServer(command, { env: io.env, cwd: io.cwd });
    const code = await pumpStdio({
      client: clientStreams(),
      server,
      middle: guardStdio(guard, session),
      signal: io.signal,
      parent: parentId,
    });
    for (const { rule, reason, policy_line } of guard.close(session))
      say(`left open: ${rule}${place(policy_line)}: ${reason} (${LEFT_OPEN})`);
    say(closingLine(session));
    return code;
  } finally {
    audit.close();
  }
}

/** Loads the policy and rejects incompatible flags. */
function guardPolicy(command: readonly string[], flags: GuardFlags, io: Io): Policy {
  if (flags.policy === undefined)
    throw new UserError('OPTION_INVALID', 'a policy is needed: --policy FILE');
  if ((flags.url === undefined) === (command.length === 0))
    throw new UserError(
      'OPTION_INVALID',
      flags.url === undefined
        ? 'no server was given'
        : 'both --url and a server to start were given',
      { hint: 'agentci guard --policy policy.yaml -- node server.mjs, or --url https://host/mcp' },
    );
  const policy = loadPolicy(flags.policy, { strict: flags.strict ?? false, io });
  const [named] = namesWithServer(policy);
  if (named !== undefined && flags.server === undefined)
    throw new UserError(
      'GUARD_SERVER_NAME',
      `${policy.file} names "${named}", and nothing says which server this is`,
      {
        hint: '--server NAME as in the client, or the tool without its server',
      },
    );
  return policy;
}

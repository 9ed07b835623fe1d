import { sha256Hex } from '../kit/hash.ts';
import { isObject } from '../kit/object.ts';
import { UserError } from '../kit/user-error.ts';
import {
  AUDIT_SCHEMA,
  type AuditDecision,
  type AuditEnd,
  type AuditLine,
  type AuditStart,
  NO_HASH,
} from '../results/guard-audit.ts';

/** One history of an audit: a guard's process, or a client of it. */
export interface AuditSession {
  readonly start: AuditStart;
  readonly decisions: readonly AuditDecision[];
  readonly end?: AuditEnd;
}

/** Whether a text is the audit log of a guard, by its first line. */
export function isAudit(text: string): boolean {
  const first = text.slice(0, text.indexOf('\n') + 1 || 4096);
  return first.includes(`"${AUDIT_SCHEMA}"`) && first.includes('"prev"');
}

/** Reads an audit log and checks its chain: a line that was changed, added or taken out is named. */
export function readAudit(text: string, file: string): AuditSession[] {
  const broken = (line: number, why: string): UserError =>
    new UserError('AUDIT_BROKEN', `${file}:${line}: ${why}`, {
      hint: 'the log was changed after it was written, or is not a whole log',
    });
  let prev = NO_HASH;
  let seq = 0;
  const sessions: { start: AuditStart; decisions: AuditDecision[]; end?: AuditEnd }[] = [];
  const open = new Map<string, (typeof sessions)[number]>();
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (line === '' && i === lines.length - 1) break;
    const entry = parsed(line);
    if (entry === undefined) throw broken(i + 1, 'this is not a line of an audit log');
    if (entry.seq !== seq + 1) throw broken(i + 1, `line ${seq + 1} was expected, this is line ${entry.seq}`);
    if (entry.prev !== prev) throw broken(i + 1, 'the hash of the line before does not match');
    seq++;
    prev = sha256Hex(line);
    if (entry.event === 'start') {
      const session = { start: entry, decisions: [] };
      sessions.push(session);
      open.set(entry.session, session);
      continue;
    }
    const session = open.get(entry.session);
    if (session === undefined) throw broken(i + 1, `the session "${entry.session}" was not started`);
    if (entry.event === 'decision') session.decisions.push(entry);
    else session.end = entry;
  }
  return sessions;
}

function parsed(line: string): AuditLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isObject(value) || typeof value.session !== 'string') return undefined;
    return value.event === 'start' || value.event === 'decision' || value.event === 'end'
      ? (value as unknown as AuditLine)
      : undefined;
  } catch {
    return undefined;
  }
}

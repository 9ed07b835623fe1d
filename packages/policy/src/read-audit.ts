import { isObject, sha256Hex } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import {
  AUDIT_SCHEMA,
  type AuditDecision,
  type AuditEnd,
  type AuditLine,
  type AuditResult,
  type AuditStart,
  type AuditTools,
  NO_HASH,
} from '@agentci/results';

/** One history in an audit: a guard process, or one of its clients. */
export interface AuditSession {
  readonly start: AuditStart;
  readonly decisions: readonly AuditDecision[];
  /** Decisions, results and definitions in order of arrival. */
  readonly events: readonly (AuditDecision | AuditResult | AuditTools)[];
  readonly end?: AuditEnd;
  /**
   * The session has no end and cannot be continued: its guard is still running, was killed, or the
   * log was truncated.
   */
  readonly isOpen?: true;
}

/** Whether a text is a guard's audit log, by its first line. */
export function isAudit(text: string): boolean {
  const first = text.slice(0, text.indexOf('\n') + 1 || 4096);
  return first.includes(`"${AUDIT_SCHEMA}"`) && first.includes('"prev"');
}

/** Reads an audit log and checks its hash chain. Reports changed, added and removed lines. */
export function readAudit(text: string, file: string): AuditSession[] {
  const broken = (line: number, why: string): UserError =>
    new UserError('AUDIT_BROKEN', `${file}:${line}: ${why}`, {
      hint: 'the log was changed after it was written, or is not a whole log',
    });
  let prev = NO_HASH;
  let seq = 0;
  const sessions: (AuditSession & {
    decisions: AuditDecision[];
    events: (AuditDecision | AuditResult | AuditTools)[];
    end?: AuditEnd;
  })[] = [];
  const open = new Map<string, (typeof sessions)[number]>();
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (line === '' && i === lines.length - 1) break;
    const entry = parsed(line);
    if (entry === undefined) throw broken(i + 1, 'this is not a line of an audit log');
    if (entry.seq !== seq + 1)
      throw broken(i + 1, `line ${seq + 1} was expected, this is line ${entry.seq}`);
    if (entry.prev !== prev) throw broken(i + 1, 'the hash of the line before does not match');
    seq++;
    prev = sha256Hex(line);
    if (entry.event === 'start') {
      const session = { start: entry, decisions: [], events: [] };
      sessions.push(session);
      open.set(entry.session, session);
      continue;
    }
    const session = open.get(entry.session);
    if (session === undefined)
      throw broken(i + 1, `the session "${entry.session}" was not started`);
    if (entry.event === 'decision') session.decisions.push(entry);
    if (entry.event !== 'end') session.events.push(entry);
    else {
      // Every other line is hashed in its successor.
      const isLast = i >= lines.length - 2;
      if (isLast && !line.endsWith(`,"sum":"${ownHash(line)}"}`))
        throw broken(i + 1, 'the line does not match its own hash');
      session.end = entry;
    }
  }
  return sessions.map((session) =>
    session.end === undefined && open.get(session.start.session) === session
      ? { ...session, isOpen: true }
      : session,
  );
}

const ownHash = (line: string): string =>
  sha256Hex(`${line.slice(0, line.lastIndexOf(',"sum":'))}}`);

const EVENTS: readonly unknown[] = ['start', 'decision', 'result', 'tools', 'end'];

function parsed(line: string): AuditLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isObject(value) || typeof value.session !== 'string') return undefined;
    return EVENTS.includes(value.event) ? (value as unknown as AuditLine) : undefined;
  } catch {
    return undefined;
  }
}

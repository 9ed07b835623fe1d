import { closeSync, readFileSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { sha256Hex } from '@agentci/lib/data';
import { openFile } from '@agentci/lib/files';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine } from '@agentci/lib/text';
import {
  type AuditSession,
  explainAudit,
  explainCalls,
  explainHtml,
  explainMarkdown,
  explainTerminal,
  isAudit,
  type Policy,
  readAudit,
  runFactsOf,
} from '@agentci/policy';
import type { ExplainReport } from '@agentci/results';
import type { Io } from '../cli/io.ts';
import { type PolicyOptions, type PolicyReport, readPolicy } from './load-policy.ts';
import { tracesOf } from './policy-traces.ts';

const OTHER_POLICY = 'AUDIT_OTHER_POLICY';

const OPEN = 'AUDIT_OPEN';

export async function explainTraces(options: PolicyOptions, io: Io): Promise<PolicyReport> {
  const audited = readAuditFile(options.traces, io);
  if (audited !== undefined) return explainAudited(audited, options, io);
  const policy = await readPolicy(options, io);
  const reports: ExplainReport[] = [];
  for await (const { trace, calls } of tracesOf(options, io, { uncaptured: 'show' })) {
    const complete = trace.status !== 'incomplete';
    const strict = options.strict ?? false;
    const captured = trace.captured.toolCalls;
    reports.push(
      explainCalls({
        policy,
        calls,
        trace: trace.id,
        complete,
        strict,
        captured,
        run: runFactsOf(trace),
      }),
    );
  }
  return { text: reportsText(reports, options), code: explainCode(reports) };
}

function explainCode(reports: readonly ExplainReport[]): number {
  if (reports.some(({ blocked, at_end }) => blocked > 0 || at_end.length > 0)) return 1;
  return reports.some(({ unknown, not_known }) => unknown > 0 || not_known !== undefined) ? 2 : 0;
}

/** Judges a guard's audit again. Every decision must come out the same. */
async function explainAudited(
  sessions: readonly AuditSession[],
  options: PolicyOptions,
  io: Io,
): Promise<PolicyReport> {
  const say = (text: string): void =>
    void io.stderr.write(`agentci: ${escapeTerminalLine(text)}\n`);
  const policies = new Map<string, { readonly policy: Policy; readonly hash: string }>();
  const reports: ExplainReport[] = [];
  const changed = new Set<string>();
  // Guards with different policies may write to the same file.
  for (const [i, session] of sessions.entries()) {
    const file = options.policy ?? session.start.policy;
    let read = policies.get(file);
    if (read === undefined) {
      const policy = await readPolicy({ ...options, policy: file }, io);
      read = { policy, hash: sha256Hex(policy.sources.join('\0')) };
      policies.set(file, read);
    }
    if (session.start.policy_sha256 !== read.hash) changed.add(read.policy.file);
    const name = `${options.traces ?? 'audit'}#${i + 1} ${session.start.server}`.trim();
    reports.push(explainAudit(session, read.policy, name));
    if (session.isOpen)
      say(`${name} has no end: its guard still runs, was killed, or lines were cut off (${OPEN})`);
  }
  for (const file of changed)
    say(`${file} is not the policy that the audit was written with (${OTHER_POLICY})`);
  return { text: reportsText(reports, options), code: auditCode(sessions, reports) };
}

function auditCode(sessions: readonly AuditSession[], reports: readonly ExplainReport[]): number {
  if (reports.some(({ audit }) => audit!.differs.length > 0)) return 1;
  return sessions.some(({ isOpen }) => isOpen) || reports.some(({ audit }) => audit!.not_told > 0)
    ? 2
    : 0;
}

function readAuditFile(path: string | undefined, io: Io): AuditSession[] | undefined {
  if (path === undefined) return undefined;
  const file = resolve(io.cwd, path);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw new UserError('TRACES_MISSING', `cannot read traces from "${path}"`, {
      hint: 'Give recordings (a file or a folder), or the audit of a guard.',
    });
  if (!found.isFile()) return undefined;
  const head = Buffer.alloc(4096);
  const opened = openFile(file, 'r');
  const length = readSync(opened, head, 0, head.length, 0);
  closeSync(opened);
  if (!isAudit(head.toString('utf8', 0, length))) return undefined;
  return readAudit(readFileSync(file, 'utf8'), path);
}

function reportsText(reports: readonly ExplainReport[], options: PolicyOptions): string {
  const format = options.json ? 'json' : (options.format ?? 'terminal');
  return {
    terminal: explainTerminal,
    markdown: explainMarkdown,
    html: explainHtml,
    json: (all: readonly ExplainReport[]) =>
      `${JSON.stringify({ schema: 'agentci.policy-explain/1', traces: all }, null, 2)}\n`,
  }[format](reports);
}

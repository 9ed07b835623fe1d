import { sha256Hex } from '@agentci/lib/data';
import { type Audit, type AuditEntry, chainLine } from '@agentci/mcp';
import { NO_HASH } from '@agentci/results';

/** An audit in memory, for tests. */
export function memoryAudit(): Audit & {
  readonly text: () => string;
  readonly entries: readonly AuditEntry[];
} {
  const entries: AuditEntry[] = [];
  let text = '';
  let chain = { seq: 1, prev: NO_HASH };
  return {
    entries,
    text: () => text,
    add: (entry) => {
      const line = chainLine(entry, chain, '2026-01-01T00:00:00.000Z');
      text += `${line}\n`;
      chain = { seq: chain.seq + 1, prev: sha256Hex(line) };
      entries.push(entry);
    },
    close: () => {},
  };
}

import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAudit } from '@agentci/policy';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Audit, type AuditEntry, openAudit } from './audit.ts';

const START: AuditEntry = {
  event: 'start',
  schema: 'agentci.guard-audit/1',
  session: '1',
  policy: 'p.yaml',
  policy_sha256: '',
  mode: 'enforce',
  strict: false,
  server: '',
};
const DECISION: AuditEntry = {
  event: 'decision',
  session: '1',
  server: '',
  tool: 'a',
  args: {},
  decision: 'allow',
  verdict: 'allowed',
  rule: null,
  reason: null,
  policy_line: null,
  us: 1,
};
const END: AuditEntry = { event: 'end', session: '1', calls: 2, refused: 0, left_open: [] };

let folder: string;
let file: string;
let audit: Audit;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentci-audit-'));
  file = join(folder, 'audit.jsonl');
  audit = openAudit(file, () => 0);
  for (const entry of [START, DECISION, DECISION]) audit.add(entry);
});
afterEach(() => {
  audit.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('notices a manipulated log', () => {
  const tampered = (change: (lines: string[]) => string[]): (() => unknown) => {
    audit.add(END);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return () => readAudit(`${change(lines).join('\n')}\n`, 'audit.jsonl');
  };
  test.each<[string, (lines: string[]) => string[]]>([
    ['a line in the middle taken out', (lines) => lines.toSpliced(1, 1)],
    [
      'a line in the middle changed',
      (lines) => lines.map((line) => line.replace('"tool":"a"', '"tool":"b"')),
    ],
    [
      'the last line changed',
      (lines) => lines.with(-1, lines.at(-1)!.replace('"refused":0', '"refused":1')),
    ],
    [
      'the hash of the last line taken out',
      (lines) => lines.with(-1, lines.at(-1)!.replace(/,"sum":"\w+"/, '')),
    ],
    ['the lines in another order', ([first, second, ...rest]) => [second!, first!, ...rest]],
  ])('%s', (_, change) => {
    expect(tampered(change)).toThrow(/AUDIT_BROKEN|audit\.jsonl:\d/);
  });

  test.each([1, 2, 3])('%d lines cut off at the end leave a session open', (count) => {
    expect(tampered((lines) => lines.slice(0, -count))()).toMatchObject([{ isOpen: true }]);
  });

  test('a whole log is not open, nor is a session that another followed', () => {
    expect(tampered((lines) => lines)()).not.toHaveProperty('0.isOpen');
    audit.add(START);
    audit.add(START);
    audit.add(END);
    expect(readAudit(readFileSync(file, 'utf8'), 'a').map(({ isOpen }) => isOpen)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a log that is gone takes nothing more', () => {
  test.each<[string, () => void]>([
    ['deleted', () => rmSync(file)],
    ['moved away', () => renameSync(file, join(folder, 'other'))],
    ['emptied', () => truncateSync(file, 0)],
    ['written to', () => appendFileSync(file, 'x\n')],
  ])('%s', (_, act) => {
    act();
    expect(() => audit.add(DECISION)).toThrow(/no longer there|another program/);
    expect(() => audit.add(DECISION)).toThrow(/could not be written/);
  });
});

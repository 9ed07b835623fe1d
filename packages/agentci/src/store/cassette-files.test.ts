import { describe, expect, it } from 'vitest';
import { cassetteFileName, cassettePath } from './cassette-files.ts';

describe('the file of a run', () => {
  it.each([
    [{ id: 'refund', run: 1 }, /^refund\.jsonl$/],
    [{ id: 'refund', run: 3 }, /^refund\.run-3\.jsonl$/],
    [{ id: 'refund', run: 1, cell: { model: 'a' } }, /^refund\.cell-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'refund', run: 2, cell: { model: 'a' } }, /^refund\.cell-[0-9a-f]{8}\.run-2\.jsonl$/],
    [{ id: '..', run: 1 }, /^query-[0-9a-f]{8}\.jsonl$/],
    [{ id: '../../etc/passwd', run: 1 }, /^etc-passwd-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'straße 😀', run: 1 }, /^stra-e-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'refund.run-2', run: 1 }, /^refund-run-2-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'Refund', run: 1 }, /^Refund\.jsonl$/],
    [{ id: 'nul', run: 1 }, /^nul-[0-9a-f]{8}\.jsonl$/],
    [{ id: 'x'.repeat(300), run: 1 }, /^x{60}-[0-9a-f]{8}\.jsonl$/],
  ])('%j', (about, expected) => {
    expect(cassetteFileName(about)).toMatch(expected);
  });

  it('is another one for every id, run and cell, and the same whatever the order of variables', () => {
    const names = [
      { id: 'a', run: 1 },
      { id: 'a', run: 2 },
      { id: 'a.run-2', run: 1 },
      { id: 'a', run: 1, cell: { m: '1' } },
      { id: 'a', run: 1, cell: { m: '2' } },
      { id: 'a/b', run: 1 },
      { id: 'a b', run: 1 },
      { id: 'caf\u00e9', run: 1 },
      { id: 'cafe\u0301', run: 1 },
    ].map(cassetteFileName);
    // Disks of macOS do not tell forms of an accent apart; ids that differ only in capitals are refused before.
    expect(new Set(names.map((name) => name.toLowerCase().normalize('NFD'))).size).toBe(names.length);
    expect(cassetteFileName({ id: 'a', run: 1, cell: { x: '1', y: '2' } })).toBe(
      cassetteFileName({ id: 'a', run: 1, cell: { y: '2', x: '1' } }),
    );
  });

  it('stays inside its folder, whatever the agent is called', () => {
    for (const agent of ['../x', '..', '/etc', 'a/b', 'C:\\x'])
      expect(cassettePath('/d', { agent, id: 'q', run: 1 })).toMatch(/^\/d\/[A-Za-z0-9-]+\/q\.jsonl$/);
  });
});

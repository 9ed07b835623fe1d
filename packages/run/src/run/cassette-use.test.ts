import type { CassetteUse, QueryResult } from '@agentci/results';
import { cassetteText } from '@agentci/results';
import { describe, expect, it } from 'vitest';
import { runUse } from './cassette-use.ts';

const use = (more: Partial<CassetteUse> = {}): CassetteUse => ({
  mode: 'replay',
  hits: 1,
  misses: 0,
  scrubbed: 0,
  unused: 0,
  isolated: true,
  planes: ['llm'],
  ...more,
});
const result = (cassette: CassetteUse, more: Partial<QueryResult> = {}): QueryResult =>
  ({
    id: 'q',
    query: 'q',
    status: 'pass',
    cost: { details: { actual: { cost_usd: 0.5 } } },
    cassette,
    ...more,
  }) as unknown as QueryResult;
const error = { kind: 'agent', message: 'it broke' } as const;

describe('what a run with cassettes claims', () => {
  it('does not know what the calls of a query cost that ended in an error', () => {
    const told = runUse([result(use(), { status: 'error', error })], false)!;
    expect(told.recorded_cost_usd).toBeNull();
    expect(cassetteText(told)).toContain('recorded cost unknown');
  });

  it('a query that erred before a call was served takes nothing away', () => {
    const none = result(use({ hits: 0, isolated: false }), { status: 'error', error });
    expect(runUse([none], false)!.recorded_cost_usd).toBe(0);
  });

  it('is not isolated when a call came late', () => {
    expect([false, true].map((isLate) => runUse([result(use())], isLate)!.isolated)).toEqual([
      true,
      false,
    ]);
  });

  it.each([
    [
      'auto',
      use({ mode: 'auto', isolated: false }),
      'not isolated: "auto" asks models if nothing is recorded',
    ],
    ['a miss', use({ misses: 1, isolated: false }), 'not isolated: calls were missed'],
    [
      'nothing served',
      use({ hits: 0, isolated: false }),
      'not isolated: no recorded call was served',
    ],
    [
      'a late call',
      use({ isolated: false }),
      'not isolated: a query had no call served, a call came after its answer, MCP servers answered for themselves, or an encrypted connection to this machine could not be looked into',
    ],
  ])('says why it is not isolated: %s', (_, told, words) => {
    expect(cassetteText(told)).toContain(words);
  });
});

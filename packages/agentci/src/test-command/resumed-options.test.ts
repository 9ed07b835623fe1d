import type { StoredRun } from '@agentci/run';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { command as evalCommand } from '../cli/commands/eval.ts';
import { command as testCommand } from '../cli/commands/test.ts';
import { resolveAliases } from '../cli/test-flags.ts';
import { ON_RESUME, resumedOptions, storedOptions } from './resumed-options.ts';
import type { TestOptions } from './test-options.ts';

/** Names of a command's options, with short options mapped to long ones. */
function optionsOf({ configure }: typeof testCommand): string[] {
  const parser = new Command();
  configure?.(parser);
  return Object.keys(
    resolveAliases(Object.fromEntries(parser.options.map((each) => [each.attributeName(), 1]))),
  );
}

test('of every option of test it is known what --resume makes of it', () => {
  expect(optionsOf(testCommand).sort()).toEqual(Object.keys(ON_RESUME).sort());
  // `test --resume` continues an eval. The judged run is stored as its recordings.
  expect(
    optionsOf(evalCommand).filter((name) => name !== 'run' && !Object.hasOwn(ON_RESUME, name)),
  ).toEqual([]);
});

test('reports and the like are not stored with a run', () => {
  const given = {
    config: 'a.yaml',
    format: ['json'],
    quiet: true,
    failed: true,
    strict: true,
    timeout: 500,
    ids: ['a'],
  };
  expect(storedOptions(given)).toEqual({ strict: true, timeout: 500, ids: ['a'] });
});

test('a limit that is given with --resume counts instead of the stored one', () => {
  const run = {
    header: { started_with: { strict: true, maxCost: 1, timeout: 500, plan_hash: 'x' } },
  };
  const given = { config: 'a.yaml', resume: true, maxCost: 2, failFast: true } as TestOptions;
  expect(resumedOptions(given, run as unknown as StoredRun)).toEqual({
    config: 'a.yaml',
    resume: true,
    strict: true,
    maxCost: 2,
    timeout: 500,
    failFast: true,
  });
});

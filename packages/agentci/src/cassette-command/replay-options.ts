import type { RunOptions } from '@agentci/run';
import type { Io } from '../cli/io.ts';
import type { CassettePlace } from './place.ts';

/** Options for a replay that only checks cassettes, without baselines or a judge. */
export const replayOptions = (
  { suite, dir }: Pick<CassettePlace, 'suite' | 'dir'>,
  { id, workers }: { readonly id?: string | undefined; readonly workers?: number | undefined },
  { env, signal, now }: Io,
): RunOptions => ({
  suite,
  ids: id === undefined ? undefined : [id],
  cassette: { mode: 'replay', dir },
  ignoresBaselines: true,
  judge: 'off',
  env,
  signal,
  now,
  workers,
});

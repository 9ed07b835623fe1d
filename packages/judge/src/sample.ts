import { sha256Hex } from '@agentci/lib/data';

/**
 * Whether a query is sampled. Depends only on its id and the seed, so the choice is stable as
 * queries come and go.
 */
export function isSampled(id: string, options: { share: number; seed: number }): boolean {
  return (
    Number.parseInt(sha256Hex(`${options.seed}\n${id}`).slice(0, 12), 16) / 16 ** 12 < options.share
  );
}

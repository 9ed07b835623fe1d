import { sha256Hex } from '@agentci/lib/data';

/** Whether a query belongs to the share that is sampled. Depends on its id and the seed alone, so the choice stays the same as queries come and go. */
export function isSampled(id: string, options: { share: number; seed: number }): boolean {
  return (
    Number.parseInt(sha256Hex(`${options.seed}\n${id}`).slice(0, 12), 16) / 16 ** 12 < options.share
  );
}

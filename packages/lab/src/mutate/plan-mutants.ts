import { shortHash } from '@agentci/lib/data';
import { seededRandom } from '@agentci/stats';
import type { Trace } from '@agentci/trace';
import type { Operator, Site, World } from './operator.ts';

/** A planned change: the site and its operator. */
export interface Planned {
  readonly operator: Operator;
  readonly site: Site;
}

/** The deterministic part of `World`. */
export type Surroundings = Omit<World, 'random'>;

/**
 * Plans up to `max` changes of one recording. Operators take turns, so a small budget still tries
 * every kind. The plan depends only on the seed, not on other queries.
 */
export function planMutants(
  trace: Trace,
  surroundings: Surroundings,
  options: { readonly operators: readonly Operator[]; readonly seed: number; readonly max: number },
): { readonly planned: readonly Planned[]; readonly found: number } {
  const piles = options.operators.map((operator) => {
    const random = seededRandom(
      options.seed ^ Number.parseInt(shortHash(`${surroundings.query.id} ${operator.name}`), 16),
    );
    const sites = operator.sites(trace, { ...surroundings, random });
    return shuffled(sites, random).map((site) => ({ operator, site }));
  });
  const found = piles.reduce((sum, pile) => sum + pile.length, 0);
  const planned: Planned[] = [];
  for (let round = 0; planned.length < Math.min(options.max, found); round++)
    for (const pile of piles) {
      const next = pile[round];
      if (next !== undefined && planned.length < options.max) planned.push(next);
    }
  return { planned, found };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const list = [...items];
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}

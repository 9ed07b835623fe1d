import { shortHash } from '@agentci/lib/data';
import { seededRandom } from '@agentci/stats';
import type { Trace } from '@agentci/trace';
import type { Operator, Site, World } from './operator.ts';

/** A change to make: the place, and the operator that found it. */
export interface Planned {
  readonly operator: Operator;
  readonly site: Site;
}

/** The part of the world that is not chance. */
export type Surroundings = Omit<World, 'random'>;

/**
 * The changes to make to one recording, at most `max`: each operator in turn gives one of its places, so that a small budget
 * still tries every kind. The same seed gives the same plan, whatever other queries there are.
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

import type { Location } from '@agentci/lib/problems';
import type { Layer } from '@agentci/results';
import type { LayerBlock, Query, TurnChecks } from '@agentci/spec';

/** Location of a check: a key of a layer, of the query or of one of its turns. */
interface AdvicePlace {
  readonly layer: Layer;
  readonly key: string;
  readonly turn?: number;
}

/** The check's id in results. */
export const idOfAdvice = ({ layer, key, turn }: AdvicePlace): string =>
  turn === undefined ? `${layer}.${key}` : `${layer}.turn[${turn}].${key}`;

/** The query's existing block for the check. */
export const blockFor = (
  query: Query,
  { layer, key, turn }: AdvicePlace,
): LayerBlock | undefined =>
  turn === undefined ? query[layer] : turnFor(query, { layer, key, turn })?.[layer];

/** The location of the check if the query already has it. */
export const placeOfWritten = (query: Query, place: AdvicePlace): Location | undefined =>
  (place.turn === undefined ? query : turnFor(query, place))?.locations?.[
    `${place.layer}.${place.key}`
  ];

/** A turn may occur more than once in the list. The entry with the check counts. */
function turnFor({ turns = [] }: Query, { layer, key, turn }: AdvicePlace): TurnChecks | undefined {
  const own = turns.filter((one) => one.turn === turn);
  return (
    own.find((one) => one[layer]?.[key] !== undefined) ??
    own.find((one) => one[layer] !== undefined)
  );
}

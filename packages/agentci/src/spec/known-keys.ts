import { cassetteSchema } from '../capture/cassette/config.ts';
import { didYouMean, sameWords } from '../kit/did-you-mean.ts';
import { LAYERS } from '../results/run-result.ts';
import { judgeConfigSchema } from './judge-config.ts';
import { QUERY_KEYS, ROOT_KEY_NAMES, SHARED_KEYS } from './keys.ts';
import { LAYER_KEYS } from './layer-keys.ts';
import { partialRubricSchema } from './rubric.ts';

/** Where each key of a spec belongs, for the hint to someone who wrote it elsewhere. */
function collectPlaces(): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const put = (keys: Iterable<string>, place: string): void => {
    for (const key of keys) if (!places.has(key)) places.set(key, place);
  };
  for (const layer of LAYERS) put(LAYER_KEYS[layer].keys(), `under "${layer}"`);
  put([...LAYERS, ...Object.keys(QUERY_KEYS), ...Object.keys(SHARED_KEYS)], 'in a query');
  put(ROOT_KEY_NAMES, 'at the root of the spec');
  put(Object.keys(partialRubricSchema.shape), 'in a rubric');
  put(Object.keys(judgeConfigSchema.shape), 'under "judge_config"');
  put(Object.keys(cassetteSchema.shape), 'under "cassette"');
  return places;
}

let places: ReadonlyMap<string, string> | undefined;

/** The way out for an unknown key: the place it belongs to, the key that was meant, or all there are. */
export function unknownKeyHint(key: string, allowed: readonly string[]): string {
  places ??= collectPlaces();
  const place = places.get(key);
  if (place !== undefined) return `"${key}" belongs ${place}`;
  const near =
    sameWords(key, allowed) ??
    didYouMean(key, allowed) ??
    allowed.find((each) => isCutShort(key, each));
  if (near !== undefined) return `did you mean "${near}"?`;
  return allowed.length === 0
    ? 'no keys are known here'
    : `the keys known here: ${[...allowed].sort().join(', ')}`;
}

/** `timeout` for `timeout_ms`. */
const isCutShort = (key: string, whole: string): boolean =>
  key.length > 3 && whole.startsWith(`${key}_`);

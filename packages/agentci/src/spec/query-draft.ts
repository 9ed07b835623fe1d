import type { Location } from '../kit/diagnostic.ts';
import type { Mutable } from '../kit/mutable.ts';
import type { Infer } from '../kit/value-schema.ts';
import { locate, type YamlNode } from '../kit/yaml-node.ts';
import type { Policy } from '../policy/policy.ts';
import type { Layer } from '../results/run-result.ts';
import { toConversation, toState } from './conversation.ts';
import type { QUERY_KEYS, SHARED_KEYS } from './keys.ts';
import type { Query, TurnChecks } from './suite.ts';

/** A query while its entries are being read. */
export interface Draft {
  /** As merged, for the hash of the spec. */
  readonly plain: Record<string, unknown>;
  locations: Record<string, Location>;
  hasChecks: boolean;
  policy: Policy | undefined;
  turns?: readonly TurnChecks[];
}

export const newDraft = (): Draft => ({
  plain: {},
  locations: {},
  hasChecks: false,
  policy: undefined,
});

type WrittenQuery = { readonly [K in keyof typeof QUERY_KEYS]?: Infer<(typeof QUERY_KEYS)[K]> } & {
  readonly [K in keyof typeof SHARED_KEYS]?: Infer<(typeof SHARED_KEYS)[K]>;
} & Pick<Query, Layer>;

/** One list for all queries without tags: there may be a hundred thousand. */
const NO_TAGS: readonly string[] = Object.freeze([]);

/** The query of a finished draft. The types hold for a spec without errors; with errors no query is handed out. */
export function toQuery(
  { plain: written, locations, policy, turns }: Draft,
  location: Location,
): Mutable<Query> {
  const plain = written as WrittenQuery;
  const query: Mutable<Query> = {
    id: plain.id ?? '',
    query: plain.query ?? plain.conversation?.start ?? '',
    tags: plain.tags ?? NO_TAGS,
    runs: plain.runs ?? 1,
    minPassRate: plain.min_pass_rate ?? 1,
    location,
    locations,
  };
  if (plain.description !== undefined) query.description = plain.description;
  if (plain.context !== undefined)
    query.context = typeof plain.context === 'string' ? [plain.context] : plain.context;
  if (plain.expected_output !== undefined) query.expectedOutput = plain.expected_output;
  if (plain.metadata !== undefined) query.metadata = plain.metadata;
  if (plain.xfail !== undefined) query.xfail = plain.xfail;
  if (plain.skip !== undefined) query.skip = plain.skip;
  if (plain.correctness !== undefined) query.correctness = plain.correctness;
  if (plain.path !== undefined) query.path = plain.path;
  if (plain.cost !== undefined) query.cost = plain.cost;
  if (plain.metrics !== undefined) query.metrics = plain.metrics;
  if (plain.policy !== undefined) query.policy = plain.policy;
  if (policy !== undefined) query.policies = [policy];
  if (plain.conversation !== undefined) query.conversation = toConversation(plain.conversation);
  if (turns !== undefined) query.turns = turns;
  if (plain.state !== undefined) query.state = toState(plain.state);
  return query;
}

export function addMetricLocations(locations: Record<string, Location>, metrics: YamlNode): void {
  for (const item of metrics.kind === 'seq' ? metrics.items : [metrics]) {
    if (item.kind === 'scalar') locations[`metric.${item.value}`] = locate(item.source, item.start);
    else if (item.kind === 'map') {
      for (const { key, keySource, keyStart } of item.entries.values())
        locations[`metric.${key}`] = locate(keySource, keyStart);
    }
  }
}

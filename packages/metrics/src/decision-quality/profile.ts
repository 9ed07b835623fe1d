/** Weights of the three parts, which add up to 1. */
export interface DecisionQualityWeights {
  readonly validity: number;
  readonly specificity: number;
  readonly correctness: number;
}

/** How actions are scored. Every setting that a team may want to adapt is a field. */
export interface DecisionQualityProfile {
  readonly weights: DecisionQualityWeights;
  /**
   * `rules` looks for impossible values, contradictions and malformed commands. `none` accepts
   * every action as feasible.
   */
  readonly validity: 'rules' | 'none';
  /** `words` reads versions, services and commands as words; `upstream` looks for the published scorer's fixed fragments. */
  readonly specificity: 'words' | 'upstream';
  readonly versionPattern: string;
  readonly services: readonly string[];
  readonly commands: readonly string[];
  /** Nouns that name a kind of thing but not which one. */
  readonly genericNouns: readonly string[];
  /** Pairs of directives that exclude each other. */
  readonly contradictions: readonly (readonly [string, string])[];
}

export const DEFAULT_WEIGHTS: DecisionQualityWeights = {
  validity: 0.4,
  specificity: 0.3,
  correctness: 0.3,
};

const spec: DecisionQualityProfile = {
  weights: DEFAULT_WEIGHTS,
  validity: 'rules',
  specificity: 'words',
  versionPattern: String.raw`v?\d+\.\d+\.\d+`,
  services: ['auth', 'payment', 'api', 'database'],
  commands: ['kubectl', 'docker', 'systemctl', 'aws', 'gcloud'],
  genericNouns: [
    'deployment',
    'service',
    'server',
    'release',
    'config',
    'configuration',
    'cluster',
    'pod',
    'container',
    'node',
    'instance',
    'cache',
    'queue',
    'replica',
    'connection',
    'pool',
  ],
  contradictions: [
    ['restart', 'rollback'],
    ['enable', 'disable'],
    ['start', 'stop'],
    ['scale up', 'scale down'],
    ['upgrade', 'rollback'],
    ['upgrade', 'downgrade'],
  ],
};

/** `spec` follows the written definition; `upstream` gives the numbers of the scorer published with it. */
export const DECISION_QUALITY_PROFILES = {
  spec,
  upstream: { ...spec, validity: 'none', specificity: 'upstream' },
} as const satisfies Readonly<Record<string, DecisionQualityProfile>>;

export type DecisionQualityProfileName = keyof typeof DECISION_QUALITY_PROFILES;

/** A profile by name, optionally with fields replaced. */
export type DecisionQualityProfileChoice =
  | DecisionQualityProfileName
  | (Partial<DecisionQualityProfile> & { readonly base?: DecisionQualityProfileName });

/** The profile with every field filled in. Throws if the weights do not add up to 1. */
export function resolveProfile(
  choice: DecisionQualityProfileChoice = 'spec',
): DecisionQualityProfile {
  const { base = 'spec', ...changes } = typeof choice === 'string' ? { base: choice } : choice;
  if (!Object.hasOwn(DECISION_QUALITY_PROFILES, base))
    throw new RangeError(`there is no decision quality profile "${base}"`);
  const profile: DecisionQualityProfile = { ...DECISION_QUALITY_PROFILES[base], ...changes };
  requireWeights(profile.weights);
  return profile;
}

/** Whether weights are at least 0 and add up to 1, within rounding. */
export function areWeights({
  validity,
  specificity,
  correctness,
}: DecisionQualityWeights): boolean {
  const parts = [validity, specificity, correctness];
  return (
    parts.every((part) => part >= 0) &&
    Math.abs(parts.reduce((sum, part) => sum + part, 0) - 1) < 1e-9
  );
}

function requireWeights(weights: DecisionQualityWeights): void {
  if (!areWeights(weights))
    throw new RangeError(`weights are at least 0 and add up to 1, not ${JSON.stringify(weights)}`);
}

import { dirname } from 'node:path';
import { canonicalJson, defined, sha256Hex } from '@agentci/lib/data';
import type { Diagnostic } from '@agentci/lib/problems';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { parseYaml, setOwn, toPlain, type YamlEntry, type YamlMap } from '@agentci/lib/yaml';
import type { ActionSource } from '@agentci/metrics';
import { DEFAULT_WEIGHTS, type DecisionQualityProfileChoice } from '@agentci/metrics';
import {
  checkValue,
  emptyKey,
  isBroken,
  isNull,
  SpecProblems,
  unknownKeyHint,
} from '@agentci/spec';
import type { ConditionPlan, ExperimentPlan } from './plan.ts';
import { readCondition } from './read-condition.ts';
import { readText } from './read-text.ts';
import { EXPERIMENT_KEYS, type WrittenExperiment } from './schema.ts';

const DEFAULT_TRIALS = 30;
const DEFAULT_SEED = 0;
const DEFAULT_STEP = 0.05;
const REQUIRED = ['experiment', 'conditions'] as const;

export interface ExperimentOverrides {
  readonly seed?: number;
  readonly trials?: number;
}

export interface ParsedExperiment {
  /** Absent when any diagnostic is an error. */
  readonly plan?: ExperimentPlan;
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses an experiment file. Reports all problems at once, each with its location. */
export function parseExperiment(
  text: string,
  { file, overrides = {} }: { readonly file: string; readonly overrides?: ExperimentOverrides },
): ParsedExperiment {
  const problems = new SpecProblems();
  const { root, diagnostics } = parseYaml(text, { file });
  problems.addAll(diagnostics);
  let plan: ExperimentPlan | undefined;
  if (root?.kind === 'map') plan = readPlan(root, { problems, overrides });
  else if (root !== undefined && !isBroken(root))
    problems.add(root, {
      code: 'SPEC_VALUE',
      message: 'an experiment is a map of keys',
      hint: 'start with "experiment: …"',
    });
  const found = problems.sorted();
  return plan === undefined ? { diagnostics: found } : { plan, diagnostics: found };
}

/** Loads an experiment file. Throws a `UserError` with all problems. */
export function loadExperiment(
  file: string,
  {
    dir = process.cwd(),
    overrides = {},
  }: { readonly dir?: string; readonly overrides?: ExperimentOverrides } = {},
): ExperimentPlan {
  const { plan, diagnostics } = parseExperiment(readText(file, { dir, what: 'experiment' }), {
    file,
    overrides,
  });
  if (plan !== undefined) return plan;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  throw new UserError('DATA_INVALID', `${file} has ${plural(errors, 'problem')}`, {
    diagnostics,
  });
}

function readPlan(
  root: YamlMap,
  { problems, overrides }: { problems: SpecProblems; overrides: ExperimentOverrides },
): ExperimentPlan | undefined {
  const plain: Record<string, unknown> = {};
  const schemas = new Map(Object.entries(EXPERIMENT_KEYS));
  for (const [key, entry] of root.entries) {
    const schema = schemas.get(key);
    if (schema !== undefined) {
      if (checkValue(entry, schema, problems)) setOwn(plain, key, toPlain(entry.value));
    } else if (key !== 'conditions') {
      problems.add(placeOf(entry), {
        code: 'SPEC_UNKNOWN_KEY',
        message: `an experiment has no key "${key}"`,
        hint: unknownKeyHint(key, [...schemas.keys(), 'conditions']),
      });
    }
  }
  for (const key of REQUIRED) {
    if (!root.entries.has(key))
      problems.add(root, { code: 'SPEC_REQUIRED', message: `the experiment needs "${key}"` });
  }
  const written = plain as WrittenExperiment;
  const seed = overrides.seed ?? written.seed ?? DEFAULT_SEED;
  const defaults = {
    seed,
    trials: overrides.trials ?? written.trials ?? DEFAULT_TRIALS,
    trialsOverride: overrides.trials,
    query: written.query,
  };
  const conditions = readConditions(
    root.entries.get('conditions'),
    (entry, index) => readCondition(entry, { ...defaults, seed: seed + index }, problems),
    problems,
  );
  if (problems.hasErrors) return undefined;
  let profileName: string;
  if (typeof written.profile === 'string') profileName = written.profile;
  else if (written.profile === undefined) profileName = 'spec';
  else profileName = `${written.profile.base ?? 'spec'}, adapted`;
  return {
    name: written.experiment!,
    file: root.source.file,
    dir: dirname(root.source.file),
    hash: `sha256:${sha256Hex(canonicalJson({ ...(toPlain(root) as object), overrides }))}`,
    seed,
    profileName,
    scoring: {
      profile: profileOf(written.profile),
      weights: written.weights ?? DEFAULT_WEIGHTS,
      actions: (written.actions ?? 'list') as ActionSource,
      groundTruth: written.ground_truth,
    },
    sensitivityStep: written.sensitivity_step ?? DEFAULT_STEP,
    conditions,
  };
}

function readConditions(
  entry: YamlEntry | undefined,
  read: (entry: YamlEntry, index: number) => ConditionPlan | undefined,
  problems: SpecProblems,
): ConditionPlan[] {
  if (entry === undefined || isBroken(entry.value)) return [];
  const { value } = entry;
  if (value.kind === 'map' && value.entries.size > 0)
    return [...value.entries.values()].flatMap((condition, index) => read(condition, index) ?? []);
  if (isNull(value)) problems.add(placeOf(entry), emptyKey('conditions'));
  else
    problems.add(value, {
      code: value.kind === 'map' ? 'SPEC_EMPTY' : 'SPEC_VALUE',
      message: '"conditions" must be a map of at least one condition by its name',
    });
  return [];
}

function profileOf(written: WrittenExperiment['profile']): DecisionQualityProfileChoice {
  if (written === undefined || typeof written === 'string') return written ?? 'spec';
  const {
    base,
    version_pattern: versionPattern,
    generic_nouns: genericNouns,
    services,
    commands,
    contradictions,
  } = written;
  return {
    ...defined({ base, versionPattern, genericNouns, services, commands, contradictions }),
  };
}

const placeOf = ({ keySource: source, keyStart: start }: YamlEntry) => ({ source, start });

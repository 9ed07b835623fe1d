import { keyPlace, toPlain, type YamlEntry } from '@agentci/lib/yaml';
import type { SpecProblems } from '@agentci/spec';
import { checkValue, DISK, readRunner } from '@agentci/spec';
import type { ConditionPlan, ConditionSource } from './plan.ts';
import { conditionSchema, SOURCE_KEYS, type WrittenCondition } from './schema.ts';

export interface ConditionDefaults {
  readonly seed: number;
  readonly trials: number;
  /** From the command line. Takes precedence over the file. */
  readonly trialsOverride?: number;
  readonly query?: string;
}

/** Reads one condition: exactly one source of trials, with its settings. */
export function readCondition(
  entry: YamlEntry,
  defaults: ConditionDefaults,
  problems: SpecProblems,
): ConditionPlan | undefined {
  if (!checkValue(entry, conditionSchema, problems)) return undefined;
  const written = toPlain(entry.value) as WrittenCondition;
  const source = readSource(entry, written, { defaults, problems });
  if (source === undefined) return undefined;
  return {
    name: entry.key,
    description: written.description,
    seed: written.seed ?? defaults.seed,
    exclude: new Set((written.exclude ?? []).map(String)),
    source,
  };
}

const KINDS = SOURCE_KEYS.map((key) => `"${key}"`).join(', ');

function readSource(
  entry: YamlEntry,
  written: WrittenCondition,
  { defaults, problems }: { defaults: ConditionDefaults; problems: SpecProblems },
): ConditionSource | undefined {
  const entries = entry.value.kind === 'map' ? entry.value.entries : new Map<string, YamlEntry>();
  const kinds = SOURCE_KEYS.filter((key) => entries.has(key));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const second = entries.get(kinds[1] ?? '');
    const place = second === undefined ? entry.value : keyPlace(second);
    const many = kind === undefined ? 'none' : `${kinds.length}`;
    problems.add(place, {
      code: 'DATA_INVALID',
      message: `the condition "${entry.key}" needs one of ${KINDS}; it has ${many}`,
      hint: 'for example: {traces: ./recordings}',
    });
    return undefined;
  }
  const trials = defaults.trialsOverride ?? written.trials ?? defaults.trials;
  switch (kind) {
    case 'simulate': {
      const { t2u_s: t2u, actions } = written.simulate!;
      const simulation = { t2u, actions };
      return { kind, trials, simulation };
    }
    case 'traces':
      refuseTrials(entries, problems);
      return { kind, path: written.traces!, format: written.format };
    case 'data': {
      refuseTrials(entries, problems);
      const data = typeof written.data === 'string' ? { file: written.data } : written.data!;
      return { kind, path: data.file, condition: data.condition ?? entry.key };
    }
    case 'runner': {
      const runner = readRunner(entries.get('runner')!, problems, DISK);
      if (runner === undefined) return undefined;
      if (runner.kind === 'replay') return { kind: 'traces', path: runner.replay };
      const query = written.query ?? defaults.query;
      if (query !== undefined) return { kind, runner, query, trials };
      problems.add(entry.value, {
        code: 'SPEC_REQUIRED',
        message: `the condition "${entry.key}" runs an agent and there is no "query" to ask it`,
        hint: 'write "query: …" in the condition or at the root of the experiment',
      });
      return undefined;
    }
    default:
      throw new Error(`unhandled source: ${kind satisfies never}`);
  }
}

/** All recordings are read, so ignoring a number would be misleading. */
function refuseTrials(entries: ReadonlyMap<string, YamlEntry>, problems: SpecProblems): void {
  const written = entries.get('trials');
  if (written === undefined) return;
  problems.add(keyPlace(written), {
    code: 'SPEC_VALUE',
    message: '"trials" says how many to make; recorded trials are all read',
    hint: 'remove it, or leave trials out by name with "exclude"',
  });
}

import { didYouMean } from '../kit/did-you-mean.ts';
import { joinOr } from '../kit/value-words.ts';
import { keyPlace, toPlain, type YamlEntry } from '../kit/yaml-node.ts';
import {
  RUNNER_KINDS,
  RUNNER_SCHEMAS,
  type RunnerConfig,
  toRunnerConfig,
  type WrittenRunner,
} from '../runners/config.ts';
import type { SpecProblems } from './problems.ts';
import { checkValue, emptyKey, isBroken, isNull } from './value-check.ts';

const KINDS = joinOr(RUNNER_KINDS.map((kind) => `"${kind}"`));

/** Reads `runner:`, which has exactly one of four kinds; the others' keys are then unknown to it. */
export function readRunner(entry: YamlEntry, problems: SpecProblems): RunnerConfig | undefined {
  const { value } = entry;
  if (isBroken(value)) return undefined;
  if (value.kind !== 'map') {
    const place = keyPlace(entry);
    if (isNull(value)) problems.add(place, emptyKey(entry.key));
    else
      problems.add(value, {
        code: 'SPEC_TYPE',
        message: '"runner" must be a map',
        hint: 'for example: {replay: ./traces}',
      });
    return undefined;
  }
  const kinds = RUNNER_KINDS.filter((kind) => value.entries.has(kind));
  const [kind] = kinds;
  if (kind === undefined) {
    const meant = [...value.entries.keys()]
      .map((key) => didYouMean(key, RUNNER_KINDS))
      .find((key) => key !== undefined);
    const hint = meant === undefined ? 'for example: {replay: ./traces}' : `did you mean "${meant}"?`;
    problems.add(value, { code: 'SPEC_RUNNER_KIND', message: `"runner" needs one of ${KINDS}`, hint });
    return undefined;
  }
  if (kinds.length > 1) {
    const second = [...value.entries.values()].filter(({ key }) => (kinds as readonly string[]).includes(key))[1]!;
    problems.add(keyPlace(second), {
      code: 'SPEC_RUNNER_KIND',
      message: `"runner" has ${kinds.length} kinds; it takes one of ${KINDS}`,
      hint: 'keep one of them',
    });
    return undefined;
  }
  if (!checkValue(entry, RUNNER_SCHEMAS[kind], problems)) return undefined;
  return toRunnerConfig(kind, toPlain(value) as WrittenRunner);
}

import { didYouMean } from '@agentci/lib/text';
import { type ValueSchema, v } from '@agentci/lib/values';
import {
  keyPlace,
  placeAt,
  toPlain,
  type YamlEntry,
  type YamlNode,
  type YamlPlace,
} from '@agentci/lib/yaml';
import type { Metric } from '@agentci/metrics';
import { findMetric, isOwnParams, metricNames } from '@agentci/metrics';
import { BOUND_SHAPE, COMPOSITE, DEFAULT_SET, metricRequests } from './metric-list.ts';
import type { SpecProblems } from './problems.ts';
import { checkValue } from './value-check.ts';

/**
 * Limits and the metric's own parameters in one map. Parameters that a module checks itself are
 * checked when it is loaded.
 */
function metricSchema({ params }: Metric): ValueSchema {
  const own = params?.();
  if (own !== undefined && !isOwnParams(own)) return v.looseObject(BOUND_SHAPE);
  return v.strictObject({ ...own?.shape, ...BOUND_SHAPE });
}

/**
 * Checks `metrics:` against the catalog: names, parameters, and limits that can both pass and fail.
 * With `use`, a name may belong to a module that is loaded only when the suite runs.
 */
export function checkMetrics(
  node: YamlNode,
  problems: SpecProblems,
  { hasUse }: { readonly hasUse: boolean },
): void {
  const seen = new Set<string>();
  for (const { name, place, entry } of itemsOf(node)) {
    if (seen.has(name)) {
      problems.add(place, {
        code: 'SPEC_DUPLICATE',
        message: `the metric "${name}" is listed twice`,
      });
      continue;
    }
    seen.add(name);
    const metric = findMetric(name);
    if (name === DEFAULT_SET && entry === undefined) continue;
    if (name === COMPOSITE) checkComposite(place, entry, problems);
    else if (metric === undefined) unknown(name, place, problems, hasUse);
    else if (entry !== undefined) checkEntry(metric, entry, problems);
  }
}

/** Only metrics from 0 to 1 with higher values better can be averaged. */
function checkComposite(
  place: YamlPlace,
  entry: YamlEntry | undefined,
  problems: SpecProblems,
): void {
  const written = entry === undefined ? undefined : toPlain(entry.value);
  const of = (written as { of?: unknown } | undefined)?.of;
  const hint = 'write composite: {of: [faithfulness, tool_success], min: 0.8}';
  if (entry === undefined || !Array.isArray(of) || of.length < 2) {
    problems.add(place, {
      code: 'SPEC_REQUIRED',
      message: 'composite needs "of", a list of at least two metrics',
      hint,
    });
    return;
  }
  for (const [i, name] of of.entries()) {
    const part = findMetric(String(name));
    const at = placeAt(entry.value, ['of', i]);
    if (part === undefined) unknown(String(name), at, problems, false);
    else if (part.scale !== 'fraction' || part.better !== 'higher')
      problems.add(at, {
        code: 'SPEC_VALUE',
        message: `"${part.name}" is not a share of which more is better, so its mean with others is meaningless`,
        hint: 'give it a separate limit instead',
      });
  }
  const allowed = [...Object.keys(BOUND_SHAPE), 'of'];
  for (const key of Object.keys(written as object)) {
    if (allowed.includes(key)) continue;
    problems.add(placeAt(entry.value, [key], 'key'), {
      code: 'SPEC_UNKNOWN_KEY',
      message: `"composite" has no key "${key}"`,
      hint: `its keys are ${allowed.join(', ')}`,
    });
  }
}

interface Item {
  readonly name: string;
  readonly place: YamlPlace;
  /** Set if the metric has more than its name. */
  readonly entry?: YamlEntry;
}

function itemsOf(node: YamlNode): Item[] {
  const nodes = node.kind === 'seq' ? node.items : [node];
  return nodes.flatMap((item): Item[] => {
    if (item.kind === 'scalar') return [{ name: String(item.value), place: item }];
    if (item.kind !== 'map') return [];
    return [...item.entries.values()].map((entry) => ({
      name: entry.key,
      place: keyPlace(entry),
      entry: entry.value.kind === 'scalar' && entry.value.value === null ? undefined : entry,
    }));
  });
}

function unknown(name: string, place: YamlPlace, problems: SpecProblems, hasUse: boolean): void {
  const near = didYouMean(name, metricNames());
  if (hasUse && near === undefined) return;
  problems.add(place, {
    severity: hasUse ? 'warning' : 'error',
    code: 'SPEC_VALUE',
    message: hasUse ? `no built-in metric is called "${name}"` : `there is no metric "${name}"`,
    hint:
      near === undefined
        ? 'agentci metrics lists them. Your own come from modules under "use"'
        : `did you mean "${near}"?`,
  });
}

function checkEntry(metric: Metric, entry: YamlEntry, problems: SpecProblems): void {
  const { value } = entry;
  if (value.kind === 'map' && !checkValue(entry, metricSchema(metric), problems)) return;
  const [request] = metricRequests({ [metric.name]: toPlain(value) });
  if (request === undefined) return;
  const {
    bound,
    min = metric.better === 'higher' ? bound : undefined,
    max = metric.better === 'lower' ? bound : undefined,
  } = request;
  const at = (key: 'min' | 'max'): YamlPlace =>
    value.kind === 'map' ? placeAt(value, [key]) : value;
  if (min !== undefined && max !== undefined && min > max)
    problems.add(at('min'), {
      code: 'SPEC_VALUE',
      message: `"${metric.name}": min ${min} is above max ${max}`,
    });
  if (metric.scale !== 'fraction') return;
  for (const [key, limit] of Object.entries({ min, max })) {
    if (limit === undefined || (limit >= 0 && limit <= 1)) continue;
    problems.add(at(key as 'min' | 'max'), {
      code: 'SPEC_VALUE',
      message: `"${metric.name}" is 0 to 1, so a bound of ${limit} decides nothing`,
      hint: limit > 1 && limit <= 100 ? `${limit} percent is ${limit / 100}` : undefined,
    });
  }
  if (min === 0 && max === undefined) cannotFail(metric, at('min'), 'at least 0', problems);
  if (max === 1 && min === undefined) cannotFail(metric, at('max'), 'at most 1', problems);
}

const cannotFail = (
  { name }: Metric,
  place: YamlPlace,
  bound: string,
  problems: SpecProblems,
): void =>
  problems.add(place, {
    severity: 'warning',
    code: 'SPEC_CANNOT_FAIL',
    message: `"${name}" is always ${bound}, so this bound cannot fail`,
  });

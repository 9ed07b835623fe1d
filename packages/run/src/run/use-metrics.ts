import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import type { Metric } from '@agentci/metrics';
import { findMetric, type MetricLike, metricNames, toMetric } from '@agentci/metrics';
import type { Suite } from '@agentci/spec';
import { metricRequests } from '@agentci/spec';

/** The metrics of the modules of a spec. They belong to this suite alone. */
export async function loadUsedMetrics(suite: Suite): Promise<ReadonlyMap<string, Metric>> {
  const metrics = new Map<string, Metric>();
  for (const path of suite.use) {
    const found = metricsIn(await importModule(suite, path));
    if (found.length === 0)
      throw new UserError('METRIC_INVALID', `use: ${path} exports no metric`, {
        hint: 'Export an object with a name and an evaluate function. See docs/metrics/custom.md.',
      });
    for (const item of found) {
      // A class is named by its instances. If they have no name, by its own.
      const like = typeof item === 'function' ? new item() : item;
      const name: unknown = like.name ?? (typeof item === 'function' ? item.name : undefined);
      if (typeof name !== 'string' || name === '')
        throw new UserError('METRIC_INVALID', `use: ${path} exports a metric without a name`);
      if (metrics.has(name) || findMetric(name))
        throw new UserError(
          'METRIC_INVALID',
          `use: ${path} exports the metric "${name}", a name that is taken`,
        );
      metrics.set(name, toMetric(name, like));
    }
  }
  checkNames(suite, metrics);
  return metrics;
}

async function importModule(
  suite: Suite,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  const file = resolve(suite.dir, path);
  if (!existsSync(file))
    throw new UserError('SPEC_FILE_MISSING', `use: there is no file "${path}"`, {
      hint: 'The path is relative to the spec.',
    });
  try {
    const url = pathToFileURL(file).href;
    if (!/\.[cm]?tsx?$/.test(file)) return (await import(url)) as Readonly<Record<string, unknown>>;
    const { createJiti } = await import('jiti');
    return await createJiti(url, { interopDefault: false }).import(file);
  } catch (error) {
    throw new UserError(
      'USE_FAILED',
      `use: ${path} could not be loaded: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Every export that looks like a metric, including those in lists. */
function metricsIn(module: Readonly<Record<string, unknown>>): MetricLike[] {
  const found = new Set<unknown>();
  for (const value of Object.values(module)) {
    for (const item of Array.isArray(value) ? value : [value])
      if (isMetricLike(item)) found.add(item);
  }
  return [...found] as MetricLike[];
}

/** An object with a measure function, or a class of such objects. */
function isMetricLike(value: unknown): boolean {
  const shape: unknown = typeof value === 'function' ? value.prototype : value;
  return (
    typeof shape === 'object' &&
    shape !== null &&
    ['evaluate', 'evaluateSuite'].some(
      (key) => typeof (shape as Record<string, unknown>)[key] === 'function',
    )
  );
}

/** Validates names that the spec loader could not check yet. */
function checkNames(suite: Suite, custom: ReadonlyMap<string, Metric>): void {
  for (const query of suite.queries) {
    for (const { name, params } of metricRequests(query.metrics)) {
      const place = query.locations?.[`metric.${name}`];
      const at = place ? `${place.file}:${place.line}:${place.column} ` : '';
      const metric = custom.get(name) ?? findMetric(name);
      if (metric === undefined) {
        const near = didYouMean(name, [...custom.keys(), ...metricNames()]);
        throw new UserError(
          'OPTION_INVALID',
          `${at}there is no metric "${name}", built in or in a module under "use"`,
          {
            hint: near === undefined ? undefined : `did you mean "${near}"?`,
          },
        );
      }
      const read = metric.params?.().safeParse(params);
      if (read?.success !== false) continue;
      const [issue] = read.error.issues;
      const key = [name, ...(issue?.path ?? [])].join('.');
      throw new UserError(
        'METRIC_INVALID',
        `${at}"${key}": ${issue?.message ?? 'not a parameter of this metric'}`,
      );
    }
  }
}

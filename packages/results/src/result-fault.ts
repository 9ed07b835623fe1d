import { isObject } from '@agentci/lib/data';
import { LAYERS } from './run-result.ts';

/** Fields that every report reads. A file edited by hand may lack one. */
const PARTS = ['spec', 'judge', 'checks', 'summary', 'results', 'notices'] as const;
const COUNTS = ['total', 'passed', 'failed', 'warnings', 'errors', 'skipped', 'exit_code'] as const;

/**
 * Why a value is not the result of a run, in words that follow its name. Undefined for a valid one.
 */
export function resultFault(run: unknown): string | undefined {
  if (!isObject(run)) return 'is not an object';
  for (const name of ['agent', 'run_id'] as const)
    if (typeof run[name] !== 'string') return `has no "${name}"`;
  for (const name of PARTS)
    if (typeof (run[name] ?? undefined) !== 'object') return `has no "${name}"`;
  const { spec, summary } = run as {
    spec: Record<string, unknown>;
    summary: Record<string, unknown>;
  };
  for (const name of ['file', 'hash'])
    if (typeof spec[name] !== 'string') return `has no "spec.${name}"`;
  for (const name of COUNTS)
    if (!Number.isInteger(summary[name])) return `has no "summary.${name}"`;
  for (const name of ['checks', 'results', 'notices'] as const)
    if (!Array.isArray(run[name])) return `has a "${name}" that is not a list`;
  for (const [at, result] of (run.results as unknown[]).entries()) {
    const missing = missingOf(result);
    if (missing === '') return `has a "results[${at}]" that is not the result of a query`;
    if (missing !== undefined) return `has no "results[${at}].${missing}"`;
  }
  return undefined;
}

/** The missing field of a query's result. Empty if it is not an object. */
function missingOf(result: unknown): string | undefined {
  if (!isObject(result)) return '';
  for (const name of ['id', 'query', 'status']) if (typeof result[name] !== 'string') return name;
  for (const layer of LAYERS) {
    const found = result[layer];
    if (!isObject(found)) return layer;
    if (!Array.isArray(found.checks)) return `${layer}.checks`;
    if (!isObject(found.details)) return `${layer}.details`;
  }
  return undefined;
}

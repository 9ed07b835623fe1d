import { existsSync, readdirSync } from 'node:fs';
import {
  DEFAULT_ENSEMBLE,
  DEFAULT_MODEL,
  type JudgeConfig,
  KEY_VARIABLES,
  parseModelName,
} from '@agentci/judge';
import { plural } from '@agentci/lib/text';
import type { Suite } from '@agentci/spec';
import { countRubrics } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { folderOf, judgeCacheOf } from '../stored-runs/spec-folders.ts';
import type { Finding } from './finding.ts';

/** Whether the rubrics of a spec can be judged here, with a provider key or stored verdicts. */
export function judgeFinding(suite: Suite, io: Io): Finding {
  const what = 'judge';
  const asking = suite.queries.filter((query) => countRubrics(query) > 0).length;
  if (asking === 0) return { what, status: 'ok', detail: 'no query has a rubric' };
  const rubrics = `${plural(asking, 'query', 'queries')} with rubrics`;
  const models = modelsOf((suite.judgeConfig ?? {}) as JudgeConfig);
  const without = models.filter(
    ({ keys }) => keys.length > 0 && !keys.some((name) => io.env[name]?.trim()),
  );
  const present = [
    ...new Set(models.flatMap(({ keys }) => keys.filter((name) => io.env[name]?.trim()))),
  ];
  if (without.length === 0)
    return {
      what,
      status: 'ok',
      detail: `${rubrics}; ${present.length > 0 ? `key in ${present.join(', ')}` : 'no key needed'}`,
    };
  const missing = [...new Set(without.map(({ keys }) => keys.join(' or ')))].join(' and ');
  const fix = `Set ${missing}, commit .agentci/judge-cache of a run with a key, or use --judge off.`;
  // An ensemble takes a majority, as long as more than half of its models answer.
  if (without.length * 2 < models.length)
    return {
      what,
      status: 'warn',
      detail: `${rubrics}; ${without.length} of ${models.length} judges have no key`,
      fix,
    };
  const cache = judgeCacheOf(folderOf(suite, io), undefined, io);
  if (existsSync(cache) && readdirSync(cache).length > 0)
    return {
      what,
      status: 'ok',
      detail: `${rubrics}; no key, stored verdicts are there (--judge recorded)`,
    };
  return { what, status: 'fail', detail: `${rubrics}, no key and no stored verdicts`, fix };
}

/**
 * The configured models, each with the variables that may hold its key. Empty for a custom server.
 */
function modelsOf(config: JudgeConfig): { readonly keys: readonly string[] }[] {
  const { model = DEFAULT_MODEL, ensemble, base_url, api_key_env } = config;
  const names = ensemble?.enabled ? (ensemble.models ?? DEFAULT_ENSEMBLE) : [model];
  return names.map((name) => {
    if (api_key_env !== undefined) return { keys: [api_key_env] };
    const parsed = parseModelName(name, { hasBaseUrl: base_url !== undefined });
    return { keys: parsed === undefined ? [] : KEY_VARIABLES[parsed.provider] };
  });
}

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '@agentci/lib/files';
import { SECRETS } from '@agentci/lib/secrets';
import { parseVerdict } from './parse-verdict.ts';
import type { Verdict } from './port.ts';

const SCHEMA = 'agentci.verdict/1';
const MAX_FILE_BYTES = 256 * 1024;
const MAX_RAW = 16 * 1024;

/** The key of a stored verdict, detailed enough for reviews. */
export interface VerdictKey {
  readonly model: string;
  /** The server of the model, if it is not the provider's own. */
  readonly base_url?: string;
  readonly rubric: { readonly id: string; readonly version: string };
  readonly prompt_hash: string;
  readonly vote: number;
}

export interface StoredVerdict {
  readonly verdict: Verdict;
  readonly raw: string;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly warnings?: readonly string[];
}

export const pathOf = (dir: string, hash: string): string =>
  join(dir, hash.slice(0, 2), `${hash}.json`);

/** Reads a cache file. Anything but an answer to this exact prompt counts as absent. */
export function readCacheFile(
  path: string,
  schema: string,
  key: Pick<VerdictKey, 'model' | 'prompt_hash' | 'base_url'>,
): Record<string, unknown> | undefined {
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > MAX_FILE_BYTES) return undefined;
    const file = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    const isAnswer =
      file.schema === schema &&
      file.prompt_hash === key.prompt_hash &&
      file.model === key.model &&
      file.base_url === key.base_url;
    return isAnswer ? file : undefined;
  } catch {
    return undefined;
  }
}

/** A complete verdict from the cache, if there is one. */
export function readStoredVerdict(
  dir: string,
  hash: string,
  key: VerdictKey,
): StoredVerdict | undefined {
  const file = readCacheFile(pathOf(dir, hash), SCHEMA, key);
  const verdict =
    file?.verdict === undefined ? undefined : parseVerdict(JSON.stringify(file.verdict));
  if (file === undefined || verdict === undefined || 'error' in verdict) return undefined;
  const warnings = Array.isArray(file.warnings)
    ? file.warnings.filter((text) => typeof text === 'string')
    : [];
  return {
    verdict,
    raw: typeof file.raw === 'string' ? file.raw : '',
    input_tokens: isCount(file.input_tokens) ? file.input_tokens : undefined,
    output_tokens: isCount(file.output_tokens) ? file.output_tokens : undefined,
    warnings: warnings.length > 0 ? warnings : undefined,
  };
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** Stores a verdict atomically, because two runs may write the same one. */
export function writeStoredVerdict(
  dir: string,
  hash: string,
  key: VerdictKey,
  stored: StoredVerdict,
): void {
  const path = pathOf(dir, hash);
  const { rationale, score, label } = stored.verdict;
  const file = {
    schema: SCHEMA,
    ...key,
    verdict: { rationale: SECRETS.text(rationale), score, label },
    raw: SECRETS.text(stored.raw.slice(0, MAX_RAW)),
    input_tokens: stored.input_tokens,
    output_tokens: stored.output_tokens,
    warnings: stored.warnings,
  };
  writeFileAtomic(path, `${JSON.stringify(file, null, 2)}\n`);
}

import type { QueryResult } from '@agentci/results';
import { maskResult } from '@agentci/results';
import { maskedWarning, SECRET_MASKED } from './secret-warning.ts';

/** A result as it may be kept. Its checks saw what the agent really said; reports and files must not repeat a secret in it. */
export function withoutSecrets(result: QueryResult): QueryResult {
  const found = new Set<string>();
  const masked = maskResult(result, (name) => found.add(name));
  const { warnings = [] } = masked;
  const isTold = warnings.some(({ code }) => code === SECRET_MASKED);
  return found.size === 0 || isTold
    ? masked
    : { ...masked, warnings: [...warnings, maskedWarning(found)] };
}

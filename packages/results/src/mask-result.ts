import { keptText, SECRETS } from '@agentci/lib/secrets';

/** Words of the contract and the spec, which programs compare. */
const KEPT: ReadonlySet<string> = new Set([
  'schema',
  'id',
  'ids',
  'status',
  'tags',
  'location',
  'kind',
  'code',
  'skip_reason',
  'class',
  'source',
  'unit',
  'version',
  'file',
  'policy_file',
  'metric',
  'outcome',
  'exercised',
  'severity',
  'type',
  'mode',
  'match_mode',
  'method',
  'model',
  'models',
  'strategy',
  'label',
  'tool',
  'tools',
  'name',
  'names',
  'agent',
  'rule',
  'constraint',
  'layer',
  'condition',
  'scenario',
  'judge_error',
  'baseline',
]);
/** The user's sentences. They may quote a secret, but their words are not ids. */
const WRITTEN: ReadonlySet<string> = new Set(['query', 'description', 'not_run', 'xfail']);

/** Masks secrets in the texts of agents, tools and judges. Keys, ids, names and statuses stay. */
export function maskResult<T>(value: T, onFound?: OnFound): T {
  return visit(value, onFound) as T;
}

type OnFound = (name: string) => void;

function visit(value: unknown, onFound: OnFound | undefined): unknown {
  if (typeof value === 'string') return keptText(value, onFound);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    let list: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const masked = visit(value[i], onFound);
      if (masked === value[i]) continue;
      list ??= [...value];
      list[i] = masked;
    }
    return list ?? value;
  }
  return visitFields(value as Record<string, unknown>, onFound);
}

function visitFields(
  fields: Record<string, unknown>,
  onFound: OnFound | undefined,
): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  // A layer's messages repeat its checks, so they are masked only if a check was.
  const checks = Array.isArray(fields.checks) ? visit(fields.checks, onFound) : undefined;
  for (const key in fields) {
    const inner = fields[key];
    if (typeof inner === 'number' || KEPT.has(key)) continue;
    if (key === 'messages' && checks !== undefined && checks === fields.checks) continue;
    const masked =
      key === 'checks' && checks !== undefined ? checks : maskField(key, inner, onFound);
    if (masked === inner) continue;
    copy ??= { ...fields };
    copy[key] = masked;
  }
  return copy ?? fields;
}

const maskField = (key: string, value: unknown, onFound: OnFound | undefined): unknown =>
  WRITTEN.has(key) && typeof value === 'string' ? SECRETS.document(value) : visit(value, onFound);

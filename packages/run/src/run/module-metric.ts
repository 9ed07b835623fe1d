import { withDeadline } from '@agentci/lib/net';
import type { CheckStatus, PolicyViolation } from '@agentci/results';
import type { PolicyTest } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { maskedReason } from '@agentci/trace';
import type { ModuleCaller } from '../runners/module.ts';
import type { RunOptions } from './run-options.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_VIOLATIONS = 1000;

export interface ModuleOutcome {
  readonly status: CheckStatus;
  readonly violations: readonly PolicyViolation[];
  /** The reason for a missing verdict. */
  readonly why?: string;
}

/**
 * Calls a custom metric, `(trace, config) → {status, violations}`, for one trace in a worker thread
 * with a timeout.
 */
export async function runModuleMetric(
  caller: ModuleCaller,
  trace: Trace,
  test: Extract<PolicyTest, { metric: 'module' }>,
  options: RunOptions,
): Promise<ModuleOutcome> {
  const masked = maskedReason(trace);
  if (masked !== undefined) return { status: 'error', violations: [], why: masked };
  const timeoutMs = test.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return withDeadline({ ms: timeoutMs, signal: options.signal }, async ({ signal, isOver }) => {
    try {
      return readOutcome(await caller.call([trace, test.config], signal));
    } catch (error) {
      let why: string;
      if (isOver()) why = `no answer within ${timeoutMs} ms`;
      else if (error instanceof Error) why = error.message;
      else why = String(error);
      return { status: 'error', violations: [], why };
    }
  });
}

const STATUSES = new Set(['pass', 'warn', 'fail', 'skip', 'error']);

/** Validates the returned value. Any other shape counts as "could not tell". */
function readOutcome(value: unknown): ModuleOutcome {
  const fields =
    typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const { status, violations = [] } = fields;
  if (typeof status !== 'string' || !STATUSES.has(status.toLowerCase()))
    return {
      status: 'error',
      violations: [],
      why: 'it gave no {status: pass | warn | fail | skip | error}',
    };
  if (!Array.isArray(violations))
    return { status: 'error', violations: [], why: '"violations" is not a list' };
  const read = status.toLowerCase() as CheckStatus;
  let why = typeof fields.reason === 'string' ? fields.reason : undefined;
  if (why === undefined && read === 'error') why = 'the metric says error';
  // A verdict must not contradict its violations.
  if (read === 'pass' && violations.length > 0)
    return { status: 'error', violations: [], why: 'it says pass and lists violations' };
  return {
    status: read,
    violations: violations.slice(0, MAX_VIOLATIONS).map(readViolation),
    why,
  };
}

function readViolation(value: unknown): PolicyViolation {
  const fields =
    typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const text = (field: unknown): string | undefined =>
    typeof field === 'string' ? field : undefined;
  const constraint = text(fields.constraint) ?? '';
  return {
    tool: text(fields.tool) ?? '',
    argument: text(fields.argument) ?? null,
    value: fields.value ?? null,
    constraint,
    policy_line: typeof fields.policy_line === 'number' ? fields.policy_line : null,
    message: text(fields.message) ?? text(value) ?? constraint,
    call:
      typeof fields.call === 'number' && Number.isInteger(fields.call) && fields.call >= 0
        ? fields.call
        : undefined,
    severity: 'block',
  };
}

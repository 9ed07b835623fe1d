import { secretsInTrace } from '../trace/mask-trace.ts';
import type { Trace } from '../trace/model.ts';

export const SECRET_MASKED = 'SECRET_MASKED';

/** What a stored run cannot tell any more: checks of a later `eval` see the names, not the values. */
export const maskedWarning = (names: ReadonlySet<string>): Trace['warnings'][number] => ({
  code: SECRET_MASKED,
  message: `the value of ${[...names].sort().join(', ')} came back from the agent and is masked`,
});

/** Notes on a trace that a secret is in it; its files will show the name in its place. */
export function withSecretWarning(trace: Trace): Trace {
  const names = secretsInTrace(trace);
  return names.size === 0 ? trace : { ...trace, warnings: [...trace.warnings, maskedWarning(names)] };
}

import { present } from '@agentci/lib/data';
import { CREDENTIAL_FORMS } from '@agentci/lib/secrets';
import type { Trace } from '@agentci/trace';
import { secretsInTrace } from '@agentci/trace';
import { BRIEF } from './brief-secrets.ts';

export const SECRET_MASKED = 'SECRET_MASKED';

/** Warns that checks of a later `eval` see the names of secrets, not their values. */
export function maskedWarning(names: ReadonlySet<string>): Trace['warnings'][number] {
  const sorted = [...names].sort();
  const own = sorted.filter((name) => name.startsWith(BRIEF));
  const formed = sorted.filter((name) => CREDENTIAL_FORMS.includes(name));
  const others = sorted.filter((name) => !own.includes(name) && !formed.includes(name));
  const said = present([
    others.length === 0
      ? undefined
      : `the value of ${others.join(', ')} came back from the agent and is masked`,
    formed.length === 0
      ? undefined
      : `text in the form of a credential (${formed.join(', ')}) is masked`,
    own.length === 0
      ? undefined
      : `the value of ${own.join(', ')}, which the user of the conversation knows, is masked`,
  ]);
  return { code: SECRET_MASKED, message: said.join('; ') };
}

/** Adds a warning to a trace with secrets. Its files will show their names instead. */
export function withSecretWarning(trace: Trace): Trace {
  const names = secretsInTrace(trace);
  return names.size === 0
    ? trace
    : { ...trace, warnings: [...trace.warnings, maskedWarning(names)] };
}

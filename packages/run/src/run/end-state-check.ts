import { clip, compileOnce, jsonContains, plural } from '@agentci/checks';
import { hasLostDigits } from '@agentci/lib/json';
import type { CheckResult } from '@agentci/results';
import type { Query, StatePlan } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { maskedTest } from '@agentci/trace';

const MAX_SHOWN = 200;

function wantedState({ subset, jsonSchema }: StatePlan): string {
  const parts = [
    subset === undefined ? '' : `contains ${clip(JSON.stringify(subset), MAX_SHOWN)}`,
    jsonSchema === undefined
      ? ''
      : `conforms to the schema ${clip(JSON.stringify(jsonSchema), MAX_SHOWN)}`,
  ];
  return `An end state that ${parts.filter(Boolean).join(' and ')}`;
}

/** The verdict on the state after the run. Without a state it is an error. */
export function endStateCheck(query: Query, plan: StatePlan, trace: Trace): CheckResult {
  const location = query.locations?.['correctness.state'];
  const check = (status: CheckResult['status'], message: string): CheckResult => ({
    id: 'correctness.state',
    status,
    message,
    wanted: status !== 'pass' ? wantedState(plan) : undefined,
    evidence: [],
    location,
  });
  const { endState } = trace;
  if (endState === undefined) return check('error', 'the recording has no end state');
  if ('error' in endState) return check('error', `the end state is not known: ${endState.error}`);
  if (maskedTest(trace)?.(endState.value))
    return check('error', 'a secret was taken out of the stored end state');
  const { value } = endState;
  const shown = clip(JSON.stringify(value), MAX_SHOWN);
  if (hasLostDigits(value) || hasLostDigits(plan.subset) || hasLostDigits(plan.jsonSchema))
    return check(
      'error',
      'a whole number in the end state, or in what is expected of it, is too large to be compared digit by digit; write such numbers as text',
    );
  if (plan.subset !== undefined && !jsonContains(value, plan.subset))
    return check(
      'fail',
      `the end state does not contain ${clip(JSON.stringify(plan.subset), MAX_SHOWN)}: it is ${shown}`,
    );
  if (plan.jsonSchema !== undefined) {
    const compiled = compileOnce(plan.jsonSchema as Record<string, unknown>);
    if (!compiled.ok) return check('error', `json_schema: ${compiled.message}`);
    const verdict = compiled.validate(value);
    if (verdict.timedOut)
      return check('error', 'json_schema: the validation gave no answer within its limits');
    if (!verdict.valid) {
      const errors = verdict.errors.map(
        ({ path, message }) => `${path === '' ? 'the state' : path}: ${message}`,
      );
      return check(
        'fail',
        `the end state does not conform to the schema, ${plural(errors.length, 'error')}: ${errors.slice(0, 3).join(' · ')}`,
      );
    }
  }
  return check('pass', `the end state is as expected: ${shown}`);
}

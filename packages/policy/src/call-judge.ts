import { didYouMean } from '@agentci/lib/text';
import type { ArgumentsResult, PolicyStatus, PolicyViolation } from '@agentci/results';
import { isUnnamed, meantNames } from '@agentci/trace';
import type { PolicyCall } from './call.ts';
import { type BrokenConstraint, type ConstraintPlace, policyPlace } from './constraint.ts';
import { type Policy, type ToolPolicy, toolPolicy } from './policy.ts';

/** Maximum number of cached names in an endless run. */
const MAX_NAMES = 10_000;

export interface CallFindings {
  readonly violations: readonly PolicyViolation[];
  readonly undecided: NonNullable<ArgumentsResult['undecided']>;
}

/** Checks single calls: the limit, the lists, the arguments, the unknown tools. */
export class CallJudge {
  readonly #policy: Policy;
  readonly #strict: boolean;
  readonly #known = new Map<
    string,
    { readonly tool: ToolPolicy | undefined; readonly denied: Denial | undefined }
  >();
  #violations: PolicyViolation[] = [];
  #logged: PolicyViolation[] = [];
  readonly #unknown = new Map<string, number>();
  #undecided: NonNullable<ArgumentsResult['undecided']> = [];
  readonly #gates: boolean;
  #calls = 0;
  #checked = 0;
  #reason: string | undefined;

  constructor(policy: Policy, strict: boolean) {
    this.#policy = policy;
    this.#strict = strict;
    this.#gates = policy.deny.length > 0 || policy.allow !== undefined || policy.limits.length > 0;
  }

  add(call: PolicyCall, index: number): void {
    this.#calls++;
    const spent = this.#policy.limits.find(({ max }) => this.#calls > max);
    if (spent !== undefined) {
      this.#deny(call, index, limitDenial(spent));
      return;
    }
    if (isUnnamed(call.name)) {
      this.#reason ??= `call ${index + 1} was recorded without the name of its tool`;
      this.#undecided.push({ call: index, reason: 'the tool has no name', policy_line: null });
      return;
    }
    const { tool, denied } = this.#lookUp(call);
    if (denied !== undefined) {
      this.#deny(call, index, denied);
      return;
    }
    if (this.#gates) this.#checked++;
    if (tool?.schema !== undefined) {
      if (!this.#gates) this.#checked++;
      this.#arguments(call, index, tool);
    } else if (tool === undefined) this.#unknownTool(call, index);
  }

  /** Findings since the last call, for a run in progress. They are returned once and not kept. */
  takeFindings(): CallFindings {
    const findings = { violations: this.#violations, undecided: this.#undecided };
    if (findings.violations.length > 0) this.#violations = [];
    if (findings.undecided.length > 0) this.#undecided = [];
    if (this.#logged.length > 0) this.#logged = [];
    if (this.#known.size > MAX_NAMES) this.#known.clear();
    if (this.#unknown.size > MAX_NAMES) this.#unknown.clear();
    return findings;
  }

  /** Number of counted calls. */
  get calls(): number {
    return this.#calls;
  }

  /** Uncounts the last call because it was refused. */
  takeBack(): void {
    this.#calls--;
  }

  /** The violation that every call of a tool has, whatever its arguments. */
  forbidden(call: PolicyCall): PolicyViolation | undefined {
    const { tool, denied } = this.#lookUp(call);
    const limit = this.#policy.limits.find(({ max }) => max === 0);
    const none = limit === undefined ? undefined : limitDenial(limit);
    if (none !== undefined || denied !== undefined) this.#deny(call, 0, (none ?? denied)!);
    else if (tool === undefined) this.#unknownTool(call, 0);
    return this.takeFindings().violations.find(({ severity }) => severity === 'block');
  }

  result(): ArgumentsResult {
    const blocks = this.#violations.some(({ severity }) => severity === 'block');
    const reason = blocks ? undefined : this.#reason;
    // A list of tools decides every run, even without calls, like a blocklist.
    const isExercised = this.#checked > 0 || this.#violations.length > 0 || this.#gates;
    let status: PolicyStatus;
    if (blocks) status = 'fail';
    else if (reason !== undefined) status = 'error';
    else if (this.#violations.length > 0) status = 'warn';
    else status = 'pass';
    return {
      metric: 'args_valid',
      status,
      exercised: isExercised ? 'exercised' : 'not_exercised',
      violations: this.#violations,
      logged: this.#logged,
      checked_calls: this.#checked,
      unknown_tools: Object.fromEntries(this.#unknown),
      undecided: this.#undecided.length !== 0 ? this.#undecided : undefined,
      reason,
    };
  }

  /** Looks up a tool under both of its names. If either is forbidden, the tool is. */
  #lookUp({ name, rawName }: PolicyCall): {
    readonly tool: ToolPolicy | undefined;
    readonly denied: Denial | undefined;
  } {
    const key = rawName ?? name;
    let known = this.#known.get(key);
    if (known === undefined) {
      const names = rawName === undefined ? [name] : [name, rawName];
      const meant = meantNames({ name, rawName });
      const tool = meant
        .map((each) => toolPolicy(this.#policy, each))
        .find((found) => found !== undefined);
      known = { tool, denied: denialOf(this.#policy, names, meant) };
      this.#known.set(key, known);
    }
    return known;
  }

  #deny(call: PolicyCall, index: number, { code, constraint, message, place }: Denial): void {
    this.#checked++;
    this.#violations.push({
      tool: call.name,
      argument: null,
      value: null,
      constraint,
      ...this.#line(place),
      message,
      code,
      call: index,
      severity: 'block',
    });
  }

  #arguments(call: PolicyCall, index: number, tool: ToolPolicy): void {
    const code = tool.isJsonSchema ? { code: 'E_ARG_SCHEMA' } : {};
    const add = ({
      at,
      value,
      constraint,
      message,
      place,
      onViolation,
    }: BrokenConstraint): void => {
      const violation: PolicyViolation = {
        tool: call.name,
        argument: at === '' ? null : at,
        value: value ?? null,
        constraint,
        ...this.#line(place),
        message: `${message} (${constraint})`,
        ...code,
        call: index,
        severity: onViolation === 'warn' ? 'warn' : 'block',
      };
      (onViolation === 'log' ? this.#logged : this.#violations).push(violation);
    };
    if (call.args === undefined && call.argsRaw === undefined) {
      this.#reason ??= `the arguments of call ${index + 1} (${call.name}) were not captured`;
      this.#undecided.push({
        call: index,
        reason: 'arguments were not captured',
        ...this.#line(tool.place),
      });
      return;
    }
    if (typeof call.args !== 'object' || call.args === null || Array.isArray(call.args)) {
      add({
        at: '',
        value: call.args ?? call.argsRaw ?? null,
        constraint: 'type: object',
        message: 'The arguments are not a map',
        place: tool.place,
        onViolation: 'block',
      });
      return;
    }
    tool.schema!.check(call.args, '', {
      found: add,
      unknown: (at, why) => {
        this.#reason ??= `call ${index + 1} (${call.name})${at === '' ? '' : `, ${at}`}: ${why}`;
        const reason = at === '' ? why : `${at}: ${why}`;
        this.#undecided.push({ call: index, reason, ...this.#line(tool.place) });
      },
    });
  }

  #unknownTool(call: PolicyCall, index: number): void {
    this.#unknown.set(call.name, (this.#unknown.get(call.name) ?? 0) + 1);
    const { unconstrained } = this.#policy;
    if (this.#strict) {
      const near = didYouMean(call.name, this.#policy.tools.keys());
      this.#violations.push({
        tool: call.name,
        argument: null,
        value: null,
        constraint: 'strict: true',
        policy_line: null,
        message: `Tool is not in the policy${near === undefined ? '' : `; did it mean "${near}"?`}`,
        code: 'E_POLICY_MISSING_TOOL',
        call: index,
        severity: 'block',
      });
    } else if (unconstrained !== undefined && unconstrained.mode !== 'allow') {
      this.#violations.push({
        tool: call.name,
        argument: null,
        value: null,
        constraint: `unconstrained_tools: ${unconstrained.mode}`,
        ...this.#line(unconstrained.place),
        message: 'Tool has no schema in the policy',
        code: 'E_TOOL_UNCONSTRAINED',
        call: index,
        severity: unconstrained.mode === 'deny' ? 'block' : 'warn',
      });
    }
  }

  #line(
    place: ConstraintPlace,
  ): Pick<PolicyViolation, 'policy_line' | 'policy_column' | 'policy_file'> {
    return {
      ...policyPlace(place),
      policy_file: place.file !== this.#policy.file ? place.file : undefined,
    };
  }
}

interface Denial {
  readonly code: string;
  readonly constraint: string;
  readonly message: string;
  readonly place: ConstraintPlace;
}

const limitDenial = ({ name, max, place }: Policy['limits'][number]): Denial => ({
  code: 'E_RATE_LIMIT',
  constraint: `${name}: ${max}`,
  message: 'Too many tool calls',
  place,
});

/** Deny takes precedence over allow, and matches a tool under more names. */
function denialOf(
  policy: Policy,
  names: readonly string[],
  meant: readonly string[],
): Denial | undefined {
  const denied = policy.deny.find(({ matches }) => meant.some(matches));
  if (denied !== undefined) {
    const { text, place } = denied;
    return { code: 'E_TOOL_DENIED', constraint: `deny: ${text}`, message: 'Tool is denied', place };
  }
  if (policy.allow === undefined || policy.allow.some(({ matches }) => names.some(matches)))
    return undefined;
  const list = policy.allow.map(({ text }) => text).join(', ');
  return {
    code: 'E_TOOL_NOT_ALLOWED',
    constraint: `allow: ${list}`,
    message: 'Tool is not among those allowed',
    place: policy.allowPlace!,
  };
}

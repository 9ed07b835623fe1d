import { didYouMean } from '../kit/did-you-mean.ts';
import { compileGlob } from '../kit/glob.ts';
import { UserError } from '../kit/user-error.ts';
import type { ArgumentsResult, PolicyViolation } from '../results/policy-report.ts';
import { isMeant, isUnnamed, meantNames } from '../trace/tool-name.ts';
import { type CallInput, type PolicyCall, toCalls } from './call.ts';
import { type BrokenConstraint, type ConstraintPlace, policyPlace } from './constraint.ts';
import { parsePolicy } from './parse-policy.ts';
import { type Policy, type ToolPolicy, toolPolicy } from './policy.ts';
import { timed } from './timed.ts';

export interface EvaluateArgumentsInput {
  readonly calls: readonly CallInput[];
  /** From `parsePolicy`, or the policy itself as an object. */
  readonly policy: Policy | Readonly<Record<string, unknown>>;
  /** Only calls of these tools; globs. */
  readonly tools?: readonly string[];
  /** A call of a tool that the policy does not know fails. */
  readonly strict?: boolean;
  readonly now?: () => number;
}

/** Holds the arguments of every call against the policy, and its name against the lists of allowed and denied tools. */
export function evaluateArguments(input: EvaluateArgumentsInput): ArgumentsResult {
  return timed(input.now, () => {
    const policy = asPolicy(input.policy, input.strict ?? false);
    const filter = nameFilter(policy, input.tools, input.strict ?? false);
    const judge = new CallJudge(policy, input.strict ?? false);
    const calls = toCalls(input.calls);
    for (let i = 0; i < calls.length; i++) {
      const call = calls[i]!;
      if (filter === undefined || isMeant(call, filter)) judge.add(call, i);
    }
    return judge.result();
  });
}

const isParsed = (policy: EvaluateArgumentsInput['policy']): policy is Policy =>
  policy.tools instanceof Map && Array.isArray(policy.toolGlobs);

function asPolicy(written: EvaluateArgumentsInput['policy'], strict: boolean): Policy {
  if (isParsed(written)) return written;
  const { policy, diagnostics } = parsePolicy(JSON.stringify(written, null, 2), { file: 'policy', strict });
  if (policy !== undefined) return policy;
  const first = diagnostics.find(({ severity }) => severity === 'error');
  throw new UserError(first?.code ?? 'POLICY_INVALID', `the policy cannot be used: ${first?.message ?? ''}`, {
    diagnostics,
  });
}

/** A filter that leaves nothing to check would pass whatever happens. */
export function filterProblem(policy: Policy, tools: readonly string[], strict: boolean): string | undefined {
  if (strict || policy.deny.length > 0 || policy.allow !== undefined || policy.limits.length > 0) return undefined;
  if (policy.unconstrained !== undefined && policy.unconstrained.mode !== 'allow') return undefined;
  const globs = tools.map(compileGlob);
  const known = [...policy.tools.values()];
  if (known.some((tool) => tool.schema !== undefined && globs.some((glob) => glob(tool.name)))) return undefined;
  if (policy.toolGlobs.some(({ matches }) => tools.some(matches))) return undefined;
  const near = tools.map((tool) => didYouMean(tool, policy.tools.keys())).find((name) => name !== undefined);
  return `the policy asks nothing of ${tools.join(', ')}${near === undefined ? '' : `; did you mean "${near}"?`}`;
}

function nameFilter(policy: Policy, tools: readonly string[] | undefined, strict: boolean) {
  if (tools === undefined || tools.length === 0) return undefined;
  const problem = filterProblem(policy, tools, strict);
  if (problem !== undefined) throw new UserError('POLICY_CANNOT_FAIL', problem);
  const globs = tools.map(compileGlob);
  return (name: string): boolean => globs.some((glob) => glob(name));
}

/** Everything that can be said about single calls: the limit, the lists, the arguments, the unknown tools. */
class CallJudge {
  readonly #policy: Policy;
  readonly #strict: boolean;
  readonly #known = new Map<string, { readonly tool: ToolPolicy | undefined; readonly denied: Denial | undefined }>();
  readonly #violations: PolicyViolation[] = [];
  readonly #logged: PolicyViolation[] = [];
  readonly #unknown = new Map<string, number>();
  readonly #undecided: NonNullable<ArgumentsResult['undecided']> = [];
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
      this.#deny(call, index, {
        code: 'E_RATE_LIMIT',
        constraint: `${spent.name}: ${spent.max}`,
        message: 'Too many tool calls',
        place: spent.place,
      });
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

  result(): ArgumentsResult {
    const blocks = this.#violations.some(({ severity }) => severity === 'block');
    const reason = blocks ? undefined : this.#reason;
    // A list of tools decides about every run, also one without calls, as a blocklist does.
    const isExercised = this.#checked > 0 || this.#violations.length > 0 || this.#gates;
    return {
      metric: 'args_valid',
      status: blocks ? 'fail' : reason !== undefined ? 'error' : this.#violations.length > 0 ? 'warn' : 'pass',
      exercised: isExercised ? 'exercised' : 'not_exercised',
      violations: this.#violations,
      logged: this.#logged,
      checked_calls: this.#checked,
      unknown_tools: Object.fromEntries(this.#unknown),
      ...(this.#undecided.length === 0 ? {} : { undecided: this.#undecided }),
      ...(reason === undefined ? {} : { reason }),
    };
  }

  /** What the policy says of a tool, under either of its names: what one of them forbids is forbidden. */
  #lookUp({ name, rawName }: PolicyCall): {
    readonly tool: ToolPolicy | undefined;
    readonly denied: Denial | undefined;
  } {
    const key = rawName ?? name;
    let known = this.#known.get(key);
    if (known === undefined) {
      const names = rawName === undefined ? [name] : [name, rawName];
      const meant = meantNames({ name, ...(rawName === undefined ? {} : { rawName }) });
      const tool = meant.map((each) => toolPolicy(this.#policy, each)).find((found) => found !== undefined);
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
    const add = ({ at, value, constraint, message, place, onViolation }: BrokenConstraint): void => {
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
      this.#undecided.push({ call: index, reason: 'arguments were not captured', ...this.#line(tool.place) });
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

  #line(place: ConstraintPlace): Pick<PolicyViolation, 'policy_line' | 'policy_column' | 'policy_file'> {
    return { ...policyPlace(place), ...(place.file === this.#policy.file ? {} : { policy_file: place.file }) };
  }
}

interface Denial {
  readonly code: string;
  readonly constraint: string;
  readonly message: string;
  readonly place: ConstraintPlace;
}

/** Deny beats allow, and means a tool by more names than allow does. */
function denialOf(policy: Policy, names: readonly string[], meant: readonly string[]): Denial | undefined {
  const denied = policy.deny.find(({ matches }) => meant.some(matches));
  if (denied !== undefined) {
    const { text, place } = denied;
    return { code: 'E_TOOL_DENIED', constraint: `deny: ${text}`, message: 'Tool is denied', place };
  }
  if (policy.allow === undefined || policy.allow.some(({ matches }) => names.some(matches))) return undefined;
  const list = policy.allow.map(({ text }) => text).join(', ');
  return {
    code: 'E_TOOL_NOT_ALLOWED',
    constraint: `allow: ${list}`,
    message: 'Tool is not among those allowed',
    place: policy.allowPlace!,
  };
}

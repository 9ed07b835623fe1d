import { isObject, present } from '@agentci/lib/data';
import type { Problem } from '@agentci/lib/problems';
import type { CallLists } from './call-table.ts';
import { agentCondition, CEL_HINT, compileCondition } from './condition.ts';
import type { Condition } from './condition-type.ts';
import type { ConstraintPlace } from './constraint.ts';
import { shown, unknownHint } from './issue.ts';
import { RULES } from './rules/index.gen.ts';
import type { AnyRule, FieldContext, RuleField, RuleRun, RuleVerdict } from './rules/rule.ts';
import {
  type Aliases,
  ANY_CALL,
  compileSelector,
  type Selector,
  withConditions,
} from './selectors.ts';

/** A compiled sequence rule. Reusable for any number of runs. */
export interface CompiledRule {
  readonly id: string;
  readonly type: string;
  /** `before: a->b`, as violations print it. */
  readonly constraint: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly selectors: readonly Selector[];
  /** Selectors that leave the verdict open if they cannot decide a call. */
  readonly doubts: readonly Selector[];
  /** Each call is judged separately, so one call can break the rule despite unknown others. */
  readonly isPerCall: boolean;
  /** Needs the result of a call, so the live verdict comes with it. */
  readonly needsResult: boolean;
  /** Reads results at all. */
  readonly looksAtResults: boolean;
  /** Reads the definitions of tools. */
  readonly looksAtTools?: boolean;
  readonly evaluate: (run: RuleRun) => RuleVerdict;
  /** See `Rule.breaks`: the verdict on one call of an unfinished run. */
  readonly breaks?: (calls: CallLists, at: number) => string | undefined;
  readonly forbids?: (isMeant: (selector: Selector) => boolean) => boolean;
  readonly open?: string;
}

export interface CompiledRules {
  /** Only the rules without errors. */
  readonly rules: readonly CompiledRule[];
  readonly issues: readonly Problem[];
}

const BY_TYPE: ReadonlyMap<string, AnyRule> = new Map(RULES.map((rule) => [rule.type, rule]));
/** Keys common to all rules. */
const COMMON_KEYS = ['type', 'id', 'description', 'when', 'agents'];
/** Violations of such a rule hold even if the recording missed calls. */
export const isCertain = (type: string): boolean =>
  type === 'flow' || BY_TYPE.get(type)?.isCertain === true;

const MAX_RULES = 10_000;
export const NO_ALIASES: Aliases = new Map();

export interface CompileRulesOptions {
  readonly aliases?: Aliases;
  /** The location of a rule, by its index. */
  readonly placeOf?: (index: number) => ConstraintPlace;
  readonly readFile?: FieldContext['readFile'];
}

/** Compiles a list of sequence rules. Reports all errors at once, with their paths. */
export function compileRules(value: unknown, options: CompileRulesOptions = {}): CompiledRules {
  const issues: Problem[] = [];
  if (!Array.isArray(value)) {
    const message = `rules are a list, not ${shown(value)}`;
    return { rules: [], issues: [{ severity: 'error', code: 'POLICY_VALUE', message, path: [] }] };
  }
  if (value.length === 0) {
    const message = 'the list of rules is empty, so it cannot fail';
    return {
      rules: [],
      issues: [{ severity: 'error', code: 'POLICY_CANNOT_FAIL', message, path: [] }],
    };
  }
  if (value.length > MAX_RULES) {
    const message = `there are ${value.length} rules; at most ${MAX_RULES} are read`;
    return {
      rules: [],
      issues: [{ severity: 'error', code: 'FILE_TOO_LARGE', message, path: [] }],
    };
  }
  const taken = new Map<string, number>();
  const rules = value.flatMap((item: unknown, index) => {
    const compiled = compileRule(item, {
      aliases: options.aliases ?? NO_ALIASES,
      place: options.placeOf?.(index),
      readFile: options.readFile,
      report: (issue) => issues.push({ ...issue, path: [index, ...(issue.path ?? [])] }),
    });
    if (compiled === undefined) return [];
    const count = (taken.get(compiled.id) ?? 0) + 1;
    taken.set(compiled.id, count);
    return [count === 1 ? compiled : { ...compiled, id: `${compiled.id}#${count}` }];
  });
  return { rules, issues };
}

interface RuleContext extends FieldContext {
  readonly aliases: Aliases;
  readonly place: ConstraintPlace | undefined;
  readonly report: (issue: Problem) => void;
}

type Fail = (code: string, message: string, rest?: Partial<Problem>) => void;

function compileRule(written: unknown, context: RuleContext): CompiledRule | undefined {
  const fail: Fail = (code, message, rest = {}) =>
    context.report({ severity: 'error', code, message, path: [], ...rest });
  const found = ruleOf(written, fail);
  if (found === undefined) return undefined;
  const { rule, fields } = found;
  const spelled = withPattern(fields, rule);
  const isSound = checkKeys(spelled, rule, fail);
  const conditions = readConditions(spelled, context);
  const { values, selectors, isWhole } = readFields(spelled, rule, { context, conditions, fail });
  if (!isSound || !isWhole || conditions === undefined) return undefined;
  // Without a tool, every call is meant.
  if (rule.hits !== undefined && values.tool === undefined && conditions.length > 0) {
    values.tool = withConditions(ANY_CALL, conditions);
    selectors.push(values.tool as Selector);
  }
  if (rule.subjects === 'scope' && conditions.length > 0) {
    values.scope = withConditions(ANY_CALL, conditions);
    selectors.push(values.scope as Selector);
  }
  const wrong = rule.inspect?.(values as never);
  if (wrong !== undefined) {
    fail('POLICY_CANNOT_FAIL', `this ${rule.type} rule decides nothing: ${wrong}`);
    return undefined;
  }
  const operands = rule.operands(values as never);
  const breaking = rule.hits?.(values as never);
  if (breaking !== undefined) {
    const tool = (values.tool as Selector | undefined) ?? ANY_CALL;
    values.hit = { ...tool, conditions: [...(tool.conditions ?? []), breaking] } satisfies Selector;
    selectors.push(values.hit as Selector);
    if (values.tool === undefined) selectors.push(ANY_CALL);
  }
  const looks = selectors.flatMap((selector) => selector.conditions ?? []);
  return {
    id:
      typeof spelled.id === 'string' && spelled.id !== '' ? spelled.id : `${rule.type}:${operands}`,
    type: rule.type,
    constraint: `${rule.type}: ${operands}`,
    line: context.place?.line ?? null,
    column: context.place?.column ?? null,
    selectors,
    doubts: values.hit === undefined ? selectors : [values.hit as Selector],
    isPerCall: values.hit !== undefined || (rule.isPerCall === true && conditions.length > 0),
    needsResult: looks.some(({ needsResult }) => needsResult),
    looksAtResults: looks.some(({ looksAtResults }) => looksAtResults),
    looksAtTools: looks.some(({ looksAtTools }) => looksAtTools === true),
    evaluate: (run) => rule.evaluate(values as never, run),
    breaks: bind(rule.breaks, values),
    forbids: bind(rule.forbids, values),
    open: rule.open?.(values as never),
  };
}

type RuleType = NonNullable<ReturnType<(typeof BY_TYPE)['get']>>;

function ruleOf(
  written: unknown,
  fail: Fail,
): { readonly rule: RuleType; readonly fields: Readonly<Record<string, unknown>> } | undefined {
  if (!isObject(written)) {
    fail(
      'POLICY_VALUE',
      `a rule is a map such as {type: require, tool: authenticate}, not ${shown(written)}`,
    );
    return undefined;
  }
  const { type } = written;
  if (type === undefined) {
    fail('POLICY_VALUE', 'a rule needs "type"', {
      hint: `the types: ${[...BY_TYPE.keys()].sort().join(', ')}`,
    });
    return undefined;
  }
  const rule = typeof type === 'string' ? BY_TYPE.get(type) : undefined;
  if (rule === undefined) {
    const hint = unknownHint(String(type), [...BY_TYPE.keys()], 'the types');
    fail('POLICY_UNKNOWN_KEY', `unknown rule type ${shown(type)}`, { hint, path: ['type'] });
    return undefined;
  }
  return { rule, fields: written };
}

function checkKeys(
  spelled: Readonly<Record<string, unknown>>,
  rule: RuleType,
  fail: Fail,
): boolean {
  let isKnown = true;
  const known = present([
    ...COMMON_KEYS,
    ...Object.keys(rule.fields),
    rule.type === 'blocklist' ? 'pattern' : undefined,
  ]);
  for (const key of Object.keys(spelled)) {
    if (known.includes(key)) continue;
    isKnown = false;
    const hint = unknownHint(key, known, `the keys of ${rule.type}`);
    fail('POLICY_UNKNOWN_KEY', `a rule of type ${rule.type} has no key "${key}"`, {
      hint,
      path: [key],
      part: 'key',
    });
  }
  for (const key of ['id', 'description']) {
    if (!Object.hasOwn(spelled, key) || typeof spelled[key] === 'string') continue;
    isKnown = false;
    fail('POLICY_VALUE', `"${key}" must be text`, { path: [key] });
  }
  return isKnown;
}

function readFields(
  spelled: Readonly<Record<string, unknown>>,
  rule: RuleType,
  {
    context,
    conditions = [],
    fail,
  }: {
    readonly context: RuleContext;
    readonly conditions: readonly Condition[] | undefined;
    readonly fail: Fail;
  },
) {
  const values: Record<string, unknown> = {};
  const selectors: Selector[] = [];
  let isWhole = true;
  for (const [key, field] of Object.entries(rule.fields)) {
    const value = Object.hasOwn(spelled, key) ? spelled[key] : undefined;
    if (value === undefined || value === null) {
      values[key] = field.default;
      if (field.required !== true) continue;
      isWhole = false;
      fail('POLICY_VALUE', `a rule of type ${rule.type} needs "${key}"`);
      continue;
    }
    const isSubject = Array.isArray(rule.subjects) && rule.subjects.includes(key);
    const read = readField(key, field, value, context, {
      selectors,
      conditions: isSubject ? conditions : [],
    });
    if (read === undefined) isWhole = false;
    else values[key] = read;
  }
  return { values, selectors, isWhole };
}

/** The conditions of `when` and `agents`. Undefined after an error. */
export function readConditions(
  written: Readonly<Record<string, unknown>>,
  { report }: Pick<RuleContext, 'report'>,
): readonly Condition[] | undefined {
  const conditions: Condition[] = [];
  const { when, agents } = written;
  if (agents !== undefined) {
    const patterns = Array.isArray(agents) ? agents : [agents];
    if (
      patterns.length === 0 ||
      !patterns.every((each) => typeof each === 'string' && each.trim() !== '')
    ) {
      const message = '"agents" must be a list of names, which may be globs';
      report({ severity: 'error', code: 'POLICY_VALUE', message, path: ['agents'] });
      return undefined;
    }
    conditions.push(agentCondition(patterns as string[]));
  }
  if (when !== undefined) {
    const compiled = readExpression('when', when, report);
    if (compiled === undefined) return undefined;
    conditions.push(compiled.condition);
  }
  return conditions;
}

/** Compiles an expression. Errors have the position of the character. */
export function readExpression(
  key: string,
  value: unknown,
  report: (issue: Problem) => void,
): { readonly condition: Condition; readonly negated: Condition } | undefined {
  if (typeof value !== 'string' || value.trim() === '') {
    const message = `"${key}" must be an expression, not ${shown(value)}`;
    report({ severity: 'error', code: 'POLICY_VALUE', message, hint: CEL_HINT, path: [key] });
    return undefined;
  }
  const compiled = compileCondition(value);
  if (compiled.ok) return compiled;
  const { message, offset } = compiled;
  report({
    severity: 'error',
    code: 'POLICY_BAD_EXPR',
    message: `${key}: ${message}`,
    hint: CEL_HINT,
    path: [key],
    offset,
  });
  return undefined;
}

const bind = <A extends unknown[], R>(
  method: ((values: never, ...rest: A) => R) | undefined,
  values: object,
): ((...rest: A) => R) | undefined =>
  method === undefined ? undefined : (...rest) => method(values as never, ...rest);

/** `pattern: danger` in Assay matches any name that contains "danger". */
function withPattern(
  written: Readonly<Record<string, unknown>>,
  rule: AnyRule,
): Readonly<Record<string, unknown>> {
  if (rule.type !== 'blocklist' || typeof written.pattern !== 'string' || written.pattern === '')
    return written;
  const tools = written.tools ?? [];
  return {
    ...written,
    tools: [...(Array.isArray(tools) ? tools : [tools]), `*${written.pattern}*`],
  };
}

function readNamedExpression(key: string, value: unknown, { report }: RuleContext) {
  const compiled = readExpression(key, value, report);
  return (
    compiled && {
      text: (value as string).trim().replace(/\s+/g, ' '),
      negated: compiled.negated,
    }
  );
}

function readSelector(
  one: unknown,
  { aliases, report }: RuleContext,
  path: readonly (string | number)[],
): Selector | undefined {
  let isSound = true;
  const selector = compileSelector(one, aliases, ({ at = [], ...issue }) => {
    isSound &&= issue.severity === 'warning';
    report({ ...issue, path: [...path, ...at] });
  });
  return isSound ? selector : undefined;
}

function readField(
  key: string,
  field: RuleField,
  value: unknown,
  context: RuleContext,
  {
    selectors,
    conditions,
  }: { readonly selectors: Selector[]; readonly conditions: readonly Condition[] },
): unknown {
  const fail = (
    code: string,
    message: string,
    at: readonly (string | number)[] = [],
  ): undefined => {
    context.report({ severity: 'error', code, message, path: [key, ...at] });
    return undefined;
  };
  const select = (one: unknown, at: readonly number[]): Selector | undefined => {
    const selector = readSelector(one, context, [key, ...at]);
    if (selector === undefined) return undefined;
    const meant = field.wanted === true ? { ...selector, isWanted: true as const } : selector;
    const held = withConditions(meant, conditions);
    selectors.push(held);
    return held;
  };
  switch (field.kind) {
    case 'selector':
      if (Array.isArray(value))
        return fail('POLICY_VALUE', `"${key}" must be one tool, not a list`);
      return select(value, []);
    case 'selectors': {
      if (Array.isArray(value) && value.length === 0)
        return fail('POLICY_CANNOT_FAIL', `"${key}" is empty, so the rule cannot fail`);
      const read = Array.isArray(value)
        ? value.map((one, i) => select(one, [i]))
        : [select(value, [])];
      return read.every((one) => one !== undefined) ? read : undefined;
    }
    case 'count': {
      const least = field.least ?? 0;
      if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
      return fail(
        'POLICY_VALUE',
        `"${key}" must be a whole number of at least ${least}, not ${shown(value)}`,
      );
    }
    case 'flag':
      return typeof value === 'boolean'
        ? value
        : fail('POLICY_VALUE', `"${key}" must be true or false`);
    case 'text':
      return typeof value === 'string' ? value : fail('POLICY_VALUE', `"${key}" must be text`);
    case 'expression':
      return readNamedExpression(key, value, context);
    case 'value': {
      const read = field.read!(value, context);
      return read.ok ? read.value : fail(read.code ?? 'POLICY_VALUE', read.message);
    }
  }
}

import { isObject, valueIn } from '@agentci/lib/data';
import { negate, type Scored, softened, together, type Weighed, weigh } from '../../combine.ts';
import { type Carried, carry, type Part, type Place, refuse } from '../../model.ts';
import { placeOf } from '../../places.ts';
import { ANSWER_RULES } from './answer-rules.ts';
import type { Assertion } from './assertion-text.ts';
import { CALL_RULES } from './call-rules.ts';
import { JUDGE_RULES } from './judge-rules.ts';
import type { Vars } from './render.ts';
import { type Rule, type RuleInput, resolveValue } from './rule.ts';

/** Inputs of an assertion besides its value. */
export interface AssertionContext {
  readonly vars: Vars;
  readonly place: Place;
  /** Reads a file named in a value (`file://schema.json`). */
  readonly readFile: (path: string) => unknown;
  /** The reason why assertions of the test do not see the original answer, such as a transform. */
  readonly changed?: string | undefined;
}

const RULES: Readonly<Record<string, Rule>> = { ...ANSWER_RULES, ...CALL_RULES, ...JUDGE_RULES };

/** Types without an equivalent, with the reason. */
const NONE: Readonly<Record<string, string>> = {
  javascript: 'code is neither run nor translated: write it as `expr` or `code`',
  python: 'code is neither run nor translated: write it as `code: {command: [python3, check.py]}`',
  ruby: 'code is neither run nor translated: write it as `code` with a command',
  webhook: 'a request to a server is not a check: write a program and use `code`',
  'select-best':
    'it compares answers of several providers, but here each answer has a separate verdict',
  'max-score':
    'it compares answers of several providers, but here each answer has a separate verdict',
  human: 'a person decides',
  perplexity: 'probabilities of tokens are not part of a trace',
  'perplexity-score': 'probabilities of tokens are not part of a trace',
  'search-rubric': 'the judge has no access to the web',
  levenshtein: 'a number of edits; `similarity` with levenshtein is a share of the longer text',
  meteor: 'not among the methods of `similarity`',
  gleu: 'not among the methods of `similarity`',
  moderation: 'a moderation service decides',
  classifier: 'a classifier decides',
  pi: 'a scorer of another service decides',
  'is-sql': 'it needs a parser: `code` with one of your choice',
  'contains-sql': 'it needs a parser: `code` with one of your choice',
  'is-xml': 'it needs a parser: `code` with one of your choice',
  'contains-xml': 'it needs a parser: `code` with one of your choice',
  'is-html': 'it needs a parser: `code` with one of your choice',
  'contains-html': 'it needs a parser: `code` with one of your choice',
  'is-valid-openai-tools-call': 'write the schema of the arguments as a policy',
  'is-valid-openai-function-call': 'write the schema of the arguments as a policy',
  'is-valid-function-call': 'write the schema of the arguments as a policy',
  'skill-used': 'a trace has no skills',
  'trace-span-count': 'a trace has steps, not spans: `expr` over trace.steps',
  'trace-span-duration': 'a trace has steps, not spans: `expr` over trace.steps',
  'trace-error-spans':
    'a trace has steps, not spans: `max_tool_errors`, or `expr` over trace.steps',
};

/** Converts the assertions of one test. With a threshold, the weighted mean decides. */
export function readAssertions(
  written: readonly unknown[],
  threshold: unknown,
  context: AssertionContext,
): readonly Carried[] {
  if (typeof threshold !== 'number') return written.flatMap((one) => readPlainly(one, context));
  const members = written.map((one) => readOne(one, context));
  if (members.length === 0) return [];
  return [
    together(
      context.place,
      'threshold',
      members.map(({ carried }) => carried),
      weighAll(members, threshold),
    ),
  ];
}

/**
 * Without a threshold all assertions must pass, and so must the members of a set. A weight of 0
 * never fails.
 */
function readPlainly(written: unknown, context: AssertionContext): readonly Carried[] {
  if (isObject(written) && written.type === 'assert-set' && typeof written.threshold !== 'number') {
    const place = placeOf(written, context.place);
    if (!Array.isArray(written.assert) || written.assert.length === 0)
      return [refuse(place, 'assert-set', 'it has no assertions')];
    return written.assert.flatMap((one) => readPlainly(one, { ...context, place }));
  }
  const { carried, weight } = readOne(written, context);
  const isSet = isObject(written) && written.type === 'assert-set';
  if (weight !== 0 || isSet || carried.parts.length === 0) return [carried];
  return [
    {
      ...carried,
      parts: softened(carried.parts),
      finding: { ...carried.finding, why: 'weight 0: it only warns' },
    },
  ];
}

function weighAll(members: readonly Scored[], threshold: number): Weighed {
  if (threshold <= 0)
    return { ok: false, why: `with a threshold of ${threshold} nothing can fail` };
  return weigh(members, threshold);
}

function readOne(written: unknown, context: AssertionContext): Scored {
  const place = placeOf(written, context.place);
  if (!isObject(written) || typeof written.type !== 'string')
    return { carried: refuse(place, 'assertion', 'it has no type'), weight: 1, isBoolean: true };
  const assertion = written as Assertion;
  const weight = typeof assertion.weight === 'number' ? assertion.weight : 1;
  const made =
    assertion.type === 'assert-set'
      ? readSet(assertion, place, context)
      : readSingle(assertion, place, context);
  const carried = { ...made.carried, finding: { ...made.carried.finding, origin: assertion } };
  return { carried, weight, isBoolean: made.isBoolean };
}

interface Read {
  readonly carried: Carried;
  readonly isBoolean: boolean;
}

/** A set with a weighted mean. Its own score is that mean, so another mean cannot weight it. */
function readSet(set: Assertion, place: Place, context: AssertionContext): Read {
  const inner = Array.isArray(set.assert)
    ? set.assert.map((one) => readOne(one, { ...context, place }))
    : [];
  if (inner.length === 0)
    return { carried: refuse(place, 'assert-set', 'it has no assertions'), isBoolean: true };
  const members = inner.map(({ carried }) => carried);
  const weighed: Weighed =
    typeof set.threshold === 'number'
      ? weighAll(inner, set.threshold)
      : { ok: false, why: 'its score is a mean, which the threshold of the test weighs' };
  return { carried: together(place, 'assert-set', members, weighed), isBoolean: false };
}

function readSingle(assertion: Assertion, place: Place, context: AssertionContext): Read {
  const { type } = assertion;
  const isInverse = type.startsWith('not-');
  const base = isInverse ? type.slice(4) : type;
  const none = (why: string): Read => ({ carried: refuse(place, type, why), isBoolean: true });
  if (context.changed !== undefined && !UNCHANGED.has(base)) return none(context.changed);
  if (assertion.transform !== undefined) return none('its transform changes the answer with code');
  const unsupported = valueIn(NONE, base);
  if (unsupported !== undefined) return none(unsupported);
  if (base.startsWith('promptfoo:')) return none('red-team assertions are not carried');
  const rule = valueIn(RULES, base);
  if (rule === undefined) return none(`"${base.slice(0, 60)}" is not a type that is known`);
  const value = resolveValue(assertion.value, context);
  if (!value.ok) return none(value.why);
  const input: RuleInput = { assertion, value: value.value, isInverse };
  const outcome = rule.read(input);
  if ('none' in outcome) return none(outcome.none);
  const isBoolean = rule.isGraded !== true;
  // Forbidden tools are negated one by one, not as a whole. Such rules handle that themselves.
  const parts = isInverse && outcome.isNegated !== true ? denied(outcome.parts) : outcome.parts;
  if (parts === undefined) return none('its opposite cannot be expressed in one layer');
  return {
    carried: carry(
      place,
      type,
      outcome.close === undefined ? 'exact' : 'close',
      parts,
      outcome.close ?? outcome.note,
    ),
    isBoolean,
  };
}

function denied(parts: readonly Part[]): readonly Part[] | undefined {
  const part = negate(parts);
  return part === undefined ? undefined : [part];
}

/** Assertions that do not look at the answer's text. */
const UNCHANGED = new Set(['latency', 'cost', 'finish-reason', 'guardrails']);

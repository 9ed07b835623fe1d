import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { compileRegex, RegexTimeout } from '../regex/regex.ts';
import { runGuarded } from '../regex/time-guard.ts';
import {
  type CelCompiled,
  type CelProblem,
  type CelProgram,
  type CelResult,
  type CelVariables,
  MAX_EXPRESSION,
  NotCaptured,
} from './expression.ts';
import { unknownField } from './known-fields.ts';
import { checkMixed } from './mixed-numbers.ts';
import { addStrictHas } from './strict-has.ts';
import { loopDepth, pathsIn, patternsIn, withOwnFunctions } from './syntax.ts';

const LIMITS = {
  maxAstNodes: 2_000,
  maxDepth: 64,
  maxListElements: 500,
  maxMapEntries: 200,
  maxCallArguments: 16,
};
/** Maximum cached expressions, because a spec repeats the same ones in many queries. */
const MAX_KEPT = 500;

/** Thrown by our functions, and never taken for a value. */
class CannotTell extends Error {}

/** Names of our functions, with the same length as the library's, so that offsets stay the same. */
const OWN = { matches: 'rematch', has: 'haz' } as const;

const environments = new Map<string, Environment>();
const keys = new WeakMap<CelVariables, string>();

/** A set of variables as a cache key, computed once. */
function keyOf(variables: CelVariables): string {
  let key = keys.get(variables);
  if (key === undefined) {
    key = JSON.stringify(variables);
    keys.set(variables, key);
  }
  return key;
}

const typeOf = (type: CelVariables[string]): string => {
  if (typeof type !== 'string') return 'fields' in type ? 'map' : 'list<dyn>';
  return type === 'list' ? 'list<dyn>' : type;
};

function environmentFor(variables: CelVariables): Environment {
  const key = keyOf(variables);
  let environment = environments.get(key);
  if (environment === undefined) {
    environment = new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS });
    for (const [name, type] of Object.entries(variables))
      environment.registerVariable(name, typeOf(type));
    addFunctions(environment);
    environments.set(key, environment);
  }
  return environment;
}

/**
 * JSON has one number type and CEL three, so whole and fractional numbers can be added and
 * compared, as CEL compares them if their types are only known at run time. `sum` takes both.
 */
function addFunctions(environment: Environment): void {
  const operators: Readonly<Record<string, (a: number, b: number) => number>> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
    '%': (a, b) => a % b,
  };
  for (const [sign, compute] of Object.entries(operators)) {
    const handler = (a: unknown, b: unknown): number => compute(Number(a), Number(b));
    environment.registerOperator(`int ${sign} double`, handler);
    environment.registerOperator(`double ${sign} int`, handler);
  }
  environment.registerOperator(
    'double % double',
    (a: unknown, b: unknown) => Number(a) % Number(b),
  );
  // The library derives the reverse order and `!=` from it.
  environment.registerOperator(
    'int == double',
    (a: unknown, b: unknown) => Number(a) === Number(b),
  );
  addStrictHas(environment, OWN.has);
  environment.registerFunction('sum(list<dyn>): double', (list: unknown) => sumOf(list));
  environment.registerFunction(
    `string.${OWN.matches}(string): bool`,
    (text: string, pattern: string) => matches(text, pattern),
  );
}

function sumOf(list: unknown): number {
  let sum = 0;
  for (const item of list as Iterable<unknown>) {
    if (typeof item !== 'number' && typeof item !== 'bigint')
      throw new CannotTell('sum() takes a list of numbers');
    sum += Number(item);
  }
  return sum;
}

/** Runs on the linear-time engine, like every user pattern. */
function matches(text: string, pattern: string): boolean {
  const compiled = compileRegex(pattern);
  if (!compiled.ok)
    throw new CannotTell(`the pattern ${pattern} does not compile: ${compiled.message}`);
  try {
    return compiled.regex.test(text);
  } catch (error) {
    if (error instanceof RegexTimeout) throw new NotCaptured(error.message);
    throw error;
  }
}

const kept = new Map<string, CelCompiled>();

/** Compiles an expression over one set of variables. */
export function compileExpression(text: string, variables: CelVariables): CelCompiled {
  const key = `${keyOf(variables)} ${text}`;
  const before = kept.get(key);
  if (before !== undefined) return before;
  const compiled = compile(text, variables);
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value!);
  kept.set(key, compiled);
  return compiled;
}

function compile(text: string, variables: CelVariables): CelCompiled {
  if (text.length > MAX_EXPRESSION)
    return wrong(
      `the expression has ${text.length} characters, at most ${MAX_EXPRESSION} are read`,
      0,
    );
  const environment = environmentFor(variables);
  let parsed: ParseResult;
  let checked: ReturnType<ParseResult['check']>;
  try {
    const first = environment.parse(text);
    for (const { pattern, offset } of patternsIn(first.ast)) {
      const compiled = compileRegex(pattern);
      if (!compiled.ok) return wrong(`the pattern does not compile: ${compiled.message}`, offset);
    }
    const misspelt = unknownField(first.ast, variables);
    if (misspelt !== undefined) return { ok: false, problem: misspelt };
    ({ parsed, checked } = checkMixed(withOwnFunctions(text, first.ast, OWN), environment));
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
  if (!checked.valid) return { ok: false, problem: problemOf(checked.error) };
  if (checked.type !== 'bool' && checked.type !== 'dyn')
    return wrong(`the expression gives ${typeName(checked.type)}, not true or false`, 0);
  return { ok: true, program: programOf(parsed) };
}

const wrong = (message: string, offset: number): CelCompiled => ({
  ok: false,
  problem: { message, offset },
});

const typeName = (type: string | undefined): string =>
  type === undefined ? 'another value' : `a value of type ${type}`;

function problemOf(error: unknown): CelProblem {
  const { summary, message, range } = error as {
    summary?: string;
    message?: string;
    range?: { start: number };
  };
  const text = (summary ?? message ?? String(error))
    .split('\n')[0]!
    .replaceAll(OWN.matches, 'matches')
    .replaceAll(`${OWN.has}(`, 'has(');
  return { message: text.charAt(0).toLowerCase() + text.slice(1), offset: range?.start ?? 0 };
}

/** A single loop is bounded by its list, but nested or chained loops may take any time. */
function programOf(parsed: ParseResult): CelProgram {
  const isBounded = loopDepth(parsed.ast) <= 1;
  return {
    paths: pathsIn(parsed.ast),
    run: (values): CelResult => {
      try {
        if (isBounded) return { kind: 'value', value: parsed(values) };
        const guarded = runGuarded(() => parsed(values) as unknown);
        return guarded.ok
          ? { kind: 'value', value: guarded.value }
          : { kind: 'error', message: 'the expression gave no answer within its time limit' };
      } catch (error) {
        return failureOf(error);
      }
    },
  };
}

function failureOf(error: unknown): CelResult {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof NotCaptured) return { kind: 'unknown', what: cause.message };
  return { kind: 'error', message: problemOf(error).message };
}

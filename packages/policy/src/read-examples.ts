import { isObject } from '@agentci/lib/data';
import type { Problem } from '@agentci/lib/problems';
import type { CallInput } from './call.ts';
import type { ConstraintPlace } from './constraint.ts';
import { definitionsIn } from './definitions/pinned-tools.ts';
import { shown, unknownHint } from './issue.ts';
import type { PolicyExample } from './policy.ts';

const KEYS = ['name', 'calls', 'expect', 'rule', 'query', 'tools'];
const CALL_KEYS = [
  'tool',
  'name',
  'args',
  'arguments',
  'result',
  'error',
  'agent',
  'latency_ms',
  'at_ms',
];
const MAX_EXAMPLES = 10_000;

interface ReadOptions {
  readonly placeOf: (index: number) => ConstraintPlace;
  readonly report: (issue: Problem) => void;
}

/** Reads `examples`: `{calls: […], expect: deny, rule?, name?, query?, tools?}`, calls in the simple form. */
export function readExamples(
  value: unknown,
  { placeOf, report }: ReadOptions,
): readonly PolicyExample[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_EXAMPLES) {
    report({
      code: 'POLICY_VALUE',
      message: `"examples" must be a list of 1 to ${MAX_EXAMPLES} examples`,
      path: [],
    });
    return [];
  }
  return value.flatMap((written: unknown, index) =>
    readExample(written, index, { placeOf, report }),
  );
}

type Fail = (
  code: string,
  message: string,
  path: readonly (string | number)[],
  hint?: string,
) => void;

function readExample(
  written: unknown,
  index: number,
  { placeOf, report }: ReadOptions,
): readonly PolicyExample[] {
  let isSound = true;
  const fail: Fail = (code, message, path, hint) => {
    isSound = false;
    report({ code, message, path: [index, ...path], hint });
  };
  if (!isObject(written)) {
    fail(
      'POLICY_VALUE',
      `an example is a map such as {calls: [read], expect: allow}, not ${shown(written)}`,
      [],
    );
    return [];
  }
  checkExample(written, fail);
  const { name, calls, expect, rule, query, tools } = written;
  const definitions = Array.isArray(tools) ? definitionsIn(tools) : undefined;
  if (tools !== undefined && definitions === undefined)
    fail('POLICY_VALUE', '"tools" must be a list of definitions with "name"', ['tools']);
  if (!isSound) return [];
  return [
    {
      name: typeof name === 'string' && name !== '' ? name : `example ${index + 1}`,
      calls: calls as CallInput[],
      expect: expect as 'allow' | 'deny',
      rule: rule === undefined ? undefined : (rule as string),
      run: {
        query: query === undefined ? undefined : (query as string),
        tools: definitions,
      },
      place: placeOf(index),
    },
  ];
}

function checkExample(written: Readonly<Record<string, unknown>>, fail: Fail): void {
  for (const key of Object.keys(written))
    if (!KEYS.includes(key))
      fail(
        'POLICY_UNKNOWN_KEY',
        `an example has no key "${key}"`,
        [key],
        unknownHint(key, KEYS, 'the keys'),
      );
  const { name, calls, expect, rule, query } = written;
  if (expect !== 'allow' && expect !== 'deny')
    fail(
      'POLICY_VALUE',
      `"expect" must be allow or deny, not ${shown(expect)}`,
      expect === undefined ? [] : ['expect'],
    );
  for (const [key, text] of Object.entries({ name, rule, query }))
    if (text !== undefined && typeof text !== 'string')
      fail('POLICY_VALUE', `"${key}" must be text`, [key]);
  if (rule !== undefined && expect === 'allow')
    fail('POLICY_VALUE', '"rule" is for examples with "expect: deny"', ['rule']);
  if (!Array.isArray(calls) || calls.length === 0)
    fail('POLICY_VALUE', 'an example needs "calls", a list', calls === undefined ? [] : ['calls']);
  else
    calls.forEach((call: unknown, at) => {
      const why = callFlaw(call);
      if (why !== undefined) fail('POLICY_VALUE', why, ['calls', at]);
    });
}

function callFlaw(call: unknown): string | undefined {
  if (typeof call === 'string')
    return call.trim() === '' ? 'the name of a tool is blank' : undefined;
  if (!isObject(call) || (typeof call.tool !== 'string' && typeof call.name !== 'string'))
    return `a call is the name of a tool or {tool, args, result, error, agent, at_ms}, not ${shown(call)}`;
  const odd = Object.keys(call).find((key) => !CALL_KEYS.includes(key));
  return odd === undefined
    ? undefined
    : `a call has no key "${odd}"; ${unknownHint(odd, CALL_KEYS, 'its keys')}`;
}

import { isObject } from '@agentci/lib/data';
import type { Problem } from '@agentci/lib/problems';
import { type CompiledRule, readConditions, readExpression } from '../compile-rules.ts';
import type { ConstraintPlace } from '../constraint.ts';
import { shown, unknownHint } from '../issue.ts';
import { type Aliases, compileSelector, type Selector, withConditions } from '../selectors.ts';
import { pathParts } from '../value-path.ts';
import { compileFlow, SUCCEEDED } from './flow.ts';

const KEYS = ['id', 'description', 'from', 'to', 'allow', 'unless', 'when', 'agents'];

interface ReadFlowsOptions {
  readonly aliases: Aliases;
  readonly placeOf: (index: number) => ConstraintPlace;
  readonly report: (issue: Problem) => void;
}

/** Reads `flows`: `{from: {tool, path}, to: {tool, argument}, allow: false, unless: {approved_by, when}}`. */
export function readFlows(
  value: unknown,
  { aliases, placeOf, report }: ReadFlowsOptions,
): readonly CompiledRule[] {
  if (!Array.isArray(value)) {
    report({
      code: 'POLICY_VALUE',
      message: `"flows" must be a list, not ${shown(value)}`,
      path: [],
    });
    return [];
  }
  if (value.length === 0)
    report({
      code: 'POLICY_CANNOT_FAIL',
      message: '"flows" is empty, so it cannot fail',
      path: [],
    });
  const taken = new Map<string, number>();
  return value.flatMap((written: unknown, index) => {
    const rule = new FlowReader(written, aliases, (issue) =>
      report({ ...issue, path: [index, ...(issue.path ?? [])] }),
    ).read(placeOf(index));
    if (rule === undefined) return [];
    const count = (taken.get(rule.id) ?? 0) + 1;
    taken.set(rule.id, count);
    return [count === 1 ? rule : { ...rule, id: `${rule.id}#${count}` }];
  });
}

class FlowReader {
  readonly #written: unknown;
  readonly #aliases: Aliases;
  readonly #send: (issue: Problem) => void;
  #isSound = true;

  constructor(written: unknown, aliases: Aliases, report: (issue: Problem) => void) {
    this.#written = written;
    this.#aliases = aliases;
    this.#send = report;
  }

  read(place: ConstraintPlace): CompiledRule | undefined {
    const written = this.#written;
    if (!isObject(written)) {
      this.#fail(
        'POLICY_VALUE',
        `a flow is a map such as {from: {tool: read}, to: {tool: send}, allow: false}`,
        [],
      );
      return undefined;
    }
    this.#known(written, KEYS, 'a flow', []);
    if (written.allow !== false)
      this.#fail(
        written.allow === undefined ? 'POLICY_VALUE' : 'POLICY_CANNOT_FAIL',
        written.allow === undefined
          ? 'a flow needs "allow: false"'
          : 'a flow that is allowed cannot fail',
        written.allow === undefined ? [] : ['allow'],
      );
    const from = this.#end('from', ['tool', 'path']);
    const to = this.#end('to', ['tool', 'argument']);
    const path = this.#path(from?.fields.path, ['from', 'path'], 'result');
    const argument = this.#path(to?.fields.argument, ['to', 'argument']);
    const conditions = readConditions(written, { report: this.#report });
    const approvals = this.#approvals(written.unless);
    if (!this.#isSound || from === undefined || to === undefined || conditions === undefined)
      return undefined;
    return compileFlow({
      id: typeof written.id === 'string' && written.id !== '' ? written.id : undefined,
      from: from.selector,
      path: path!,
      to: to.selector,
      argument: argument!,
      conditions,
      approvals,
      place,
    });
  }

  #end(
    key: 'from' | 'to',
    keys: readonly string[],
  ):
    | { readonly selector: Selector; readonly fields: Readonly<Record<string, unknown>> }
    | undefined {
    const value = (this.#written as Record<string, unknown>)[key];
    const fields = typeof value === 'string' ? { tool: value } : value;
    if (!isObject(fields)) {
      const message = `a flow needs "${key}: {tool: …}"`;
      this.#fail(
        value === undefined ? 'POLICY_VALUE' : 'POLICY_VALUE',
        message,
        value === undefined ? [] : [key],
      );
      return undefined;
    }
    this.#known(fields, keys, `"${key}"`, [key]);
    const selector = this.#selector(fields.tool, [key, 'tool'], [key]);
    return selector === undefined ? undefined : { selector, fields };
  }

  #selector(
    value: unknown,
    path: readonly (string | number)[],
    parent: readonly (string | number)[],
  ): Selector | undefined {
    if (value === undefined) {
      this.#fail(
        'POLICY_VALUE',
        `"${String(parent.at(-1))}" needs "${String(path.at(-1))}"`,
        parent,
      );
      return undefined;
    }
    return compileSelector(value, this.#aliases, ({ at = [], ...issue }) =>
      this.#report({ ...issue, path: [...path, ...at] }),
    );
  }

  /** `result.items.*.body`, or `body`. */
  #path(value: unknown, path: readonly string[], root?: string): readonly string[] | undefined {
    if (value === undefined) return [];
    const parts = typeof value === 'string' ? pathParts(value) : undefined;
    if (parts === undefined || (root !== undefined && parts[0] !== root)) {
      const example =
        root === undefined ? '"body" or "items.*.text"' : `"${root}" or "${root}.items.*.body"`;
      this.#fail(
        'POLICY_VALUE',
        `"${path.at(-1)}" must be a path such as ${example}, not ${shown(value)}`,
        path,
      );
      return undefined;
    }
    return root === undefined ? parts : parts.slice(1);
  }

  #approvals(value: unknown): Selector | undefined {
    if (value === undefined) return undefined;
    if (!isObject(value)) {
      this.#fail('POLICY_VALUE', '"unless" must be a map with "approved_by"', ['unless']);
      return undefined;
    }
    this.#known(value, ['approved_by', 'when'], '"unless"', ['unless']);
    const selector = this.#selector(value.approved_by, ['unless', 'approved_by'], ['unless']);
    const report = (issue: Problem): void =>
      this.#report({ ...issue, path: ['unless', ...(issue.path ?? [])] });
    const when = value.when === undefined ? undefined : readExpression('when', value.when, report);
    if (selector === undefined) return undefined;
    return withConditions(
      { ...selector, isWanted: true },
      when === undefined ? [SUCCEEDED] : [SUCCEEDED, when.condition],
    );
  }

  #known(value: object, keys: readonly string[], where: string, path: readonly string[]): void {
    for (const key of Object.keys(value)) {
      if (keys.includes(key)) continue;
      const hint = unknownHint(key, keys, 'the keys');
      this.#report({
        code: 'POLICY_UNKNOWN_KEY',
        message: `${where} has no key "${key}"`,
        hint,
        path: [...path, key],
        part: 'key',
      });
    }
  }

  readonly #report = (issue: Problem): void => {
    this.#isSound &&= issue.severity === 'warning';
    this.#send(issue);
  };

  #fail(code: string, message: string, path: readonly (string | number)[]): void {
    this.#report({ severity: 'error', code, message, path });
  }
}

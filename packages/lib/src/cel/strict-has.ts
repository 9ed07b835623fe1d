import type { ASTNode, Environment } from '@marcbachmann/cel-js';

interface Macro {
  readonly of: ASTNode;
  readonly field: string;
}

/**
 * `has(e.field)` as CEL defines it, for maps only. The library also returns false for null, texts
 * and numbers, so `!has(output.error)` would hold for an answer that is not JSON.
 */
export function addStrictHas(environment: Environment, name: string): void {
  environment.registerFunction(`${name}(ast): bool`, (({ args }: { args: readonly ASTNode[] }) => {
    const [node] = args;
    const [of, field] = node?.op === '.' ? (node.args as [ASTNode, string]) : [undefined, ''];
    return {
      args,
      of,
      field,
      typeCheck: (checker: Checker, macro: Macro, context: unknown) => {
        if (macro.of === undefined)
          throw new Error('has() takes a field, such as has(output.total)');
        checker.check(macro.of, context);
        return checker.getType('bool');
      },
      evaluate: (evaluator: Evaluator, macro: Macro, context: unknown) => {
        const value = evaluator.run(macro.of, context);
        if (value instanceof Map) return value.get(macro.field) !== undefined;
        if (typeof value !== 'object' || value === null || Array.isArray(value))
          throw new Error(
            `has(): no field "${macro.field}" can be in ${nameOf(value)}, only in an object`,
          );
        return (
          Object.hasOwn(value, macro.field) &&
          (value as Record<string, unknown>)[macro.field] !== undefined
        );
      },
    };
  }) as never);
}

interface Checker {
  readonly check: (node: ASTNode, context: unknown) => unknown;
  readonly getType: (name: string) => unknown;
}

interface Evaluator {
  readonly run: (node: ASTNode, context: unknown) => unknown;
}

const nameOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value)
    ? 'a list'
    : `a ${typeof value === 'bigint' ? 'number' : typeof value}`;
};

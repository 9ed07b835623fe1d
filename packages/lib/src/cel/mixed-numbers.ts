import type { ASTNode, Environment, ParseResult } from '@marcbachmann/cel-js';
import { nodesIn } from './syntax.ts';

const MIXED = /^no such overload: (?:u?int|double) in list<(?:u?int|double)>/;

type Checked = ReturnType<ParseResult['check']>;

/**
 * Checks the types of an expression, and lets `in` find a whole number among fractional ones and
 * vice versa. An overload would be ambiguous for types known only at run time, so the number gets
 * such a type instead.
 */
export function checkMixed(
  text: string,
  environment: Environment,
): { parsed: ParseResult; checked: Checked } {
  const loosened: number[] = [];
  for (;;) {
    const parsed = environment.parse(text);
    for (const node of inNodes(parsed.ast))
      if (loosened.includes(node.range.end)) loosen(node, environment);
    const checked = parsed.check();
    const { message = '', range } = (checked.error ?? {}) as {
      message?: string;
      range?: { end: number };
    };
    if (
      checked.valid ||
      range === undefined ||
      !MIXED.test(message) ||
      loosened.includes(range.end)
    )
      return { parsed, checked };
    loosened.push(range.end);
  }
}

function loosen(node: ASTNode, environment: Environment): void {
  const operands = node.args as unknown as ASTNode[];
  const { ast } = environment.parse('dyn(0)');
  (ast.args as unknown as [string, ASTNode[]])[1][0] = operands[0]!;
  operands[0] = ast;
}

const inNodes = (root: ASTNode): ASTNode[] => [...nodesIn(root)].filter(({ op }) => op === 'in');

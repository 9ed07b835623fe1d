import { NotCaptured } from '@agentci/lib/cel';
import { present } from '@agentci/lib/data';
import { definitionAt } from '../condition.ts';
import { CannotTell, type Condition } from '../condition-type.ts';
import { definitionFlaw } from '../definitions/definition-flaw.ts';
import { type PinnedTools, pinnedTools } from '../definitions/pinned-tools.ts';
import { definePerCallRule } from './per-call-rule.ts';
import type { FieldContext, FieldResult } from './rule.ts';

function readPinned(value: unknown, { readFile }: FieldContext): FieldResult {
  if (typeof value !== 'string' || value.trim() === '')
    return {
      ok: false,
      message: '"pinned" must be the path of a file with an answer to tools/list',
    };
  const found = readFile?.(value) ?? {
    ok: false as const,
    message: `"${value}" cannot be read from here`,
  };
  if (!found.ok) return { ok: false, code: 'FILE_UNREADABLE', message: found.message };
  const tools = pinnedTools(found.text);
  if (tools === undefined)
    return {
      ok: false,
      message: `"${value}" is not a list of tools: it needs {"tools": [{"name": …}]}`,
    };
  return { ok: true, value: tools };
}

export const rule = definePerCallRule({
  type: 'tool_definition',
  summary:
    'The definition of a called tool must be the `pinned` one, without hidden instructions, and its name must not look like that of another tool.',
  fields: {
    pinned: { kind: 'value', read: readPinned },
    hidden_instructions: { kind: 'flag', default: true },
    shadowing: { kind: 'flag', default: true },
  },
  inspect: ({ pinned, hidden_instructions, shadowing }) =>
    pinned === undefined && !hidden_instructions && !shadowing ? 'every check is off' : undefined,
  operands: ({ pinned, hidden_instructions, shadowing }) =>
    present([
      pinned === undefined ? undefined : 'pinned',
      hidden_instructions ? 'hidden_instructions' : undefined,
      shadowing ? 'shadowing' : undefined,
    ]).join(','),
  expected: ({ pinned, hidden_instructions, shadowing }) =>
    `a tool ${present([
      pinned === undefined ? undefined : 'that is defined as pinned',
      hidden_instructions ? 'without hidden instructions' : undefined,
      shadowing ? 'with a name of its own' : undefined,
    ]).join(', ')}`,
  hits: ({ pinned, hidden_instructions, shadowing }): Condition => ({
    label: '',
    needsResult: false,
    looksAtResults: false,
    looksAtTools: true,
    test: (calls, at) => {
      try {
        const tool = definitionAt(calls, at);
        const all = calls.run.tools ?? [];
        return (
          definitionFlaw(tool, all, {
            pinned: pinned as PinnedTools | undefined,
            hidden_instructions,
            shadowing,
          }) !== undefined
        );
      } catch (error) {
        if (error instanceof NotCaptured) return new CannotTell(error.message);
        throw error;
      }
    },
  }),
});

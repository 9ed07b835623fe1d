import { isFields, isUnnamed, splitToolName } from '@agentci/trace';
import type { GapNote } from './draft.ts';
import { undecorated } from './span-name.ts';
import { isAgent, isHandoff, isLlm, isTool, type Node } from './tree.ts';
import { parseJson } from './values.ts';

const MAX_NODES = 50_000;
const MAX_DEPTH = 40;

/** Keys under which programs list calls. */
const CALLS =
  /^(?:invalid_?)?(?:tool_?calls?|function_?calls?|tool_?invocations?|tool_?uses?|tool_?call_?results?|tools_?called|executed_?tools)$/i;
/** Kinds of blocks, items and messages that are a call or bring its result. */
const CALL_KIND =
  /^(?:server_|mcp_|custom_)?(?:tool|function)(?:[_-]?(?:use|call|invocation|result|response|call[_-](?:output|response|result)))?$/i;
/** Keys with tool definitions, arguments and results, which are not calls. */
const NOT_CALLED =
  /^(?:tools|tool_?definitions|functions|function_?declarations|available_?tools|.*schema|parameters|arguments|args|input|result|tool_?choice)$/i;
/** Whether a text is worth parsing for calls. */
const MENTIONS =
  /tool[_-]?(?:call|use|invocation|name|messages|result)|function[_-]?call|"role":\s*"tool"|"type":\s*"tool"/i;

/**
 * Names of called tools in a value: from its lists of calls, blocks and results, including JSON
 * texts.
 */
export function mentionsIn(value: unknown): string[] {
  const found = new Set<string>();
  let nodes = 0;
  const look = (item: unknown, at: string, depth: number): void => {
    if (typeof item !== 'object' || item === null || depth > MAX_DEPTH || ++nodes > MAX_NODES)
      return;
    if (Array.isArray(item)) {
      for (const inner of item) look(inner, at, depth + 1);
      return;
    }
    const fields = item as Readonly<Record<string, unknown>>;
    const isCall =
      CALLS.test(at) || [fields.type, fields.kind, fields.part_kind, fields.role].some(isCallKind);
    if (isCall) {
      const inner = isFields(fields.function) ? fields.function : fields;
      const called = typeof fields.function === 'string' ? fields.function : undefined;
      const name =
        called ??
        inner.name ??
        inner.tool_name ??
        inner.toolName ??
        (CALLS.test(at) ? inner.tool : undefined);
      // A tool definition has the same type as a call, and describes its arguments.
      if (typeof name === 'string' && !isDefinition(fields) && !isDefinition(inner))
        found.add(name);
    } else if (isFields(fields.origin) && typeof fields.origin.tool_name === 'string')
      found.add(fields.origin.tool_name);
    for (const [key, inner] of Object.entries(fields))
      if (!NOT_CALLED.test(key)) look(inner, key, depth + 1);
  };
  if (typeof value !== 'string') look(value, '', 0);
  else if (MENTIONS.test(value)) {
    const parsed = parseJson(value);
    if (parsed === undefined) for (const name of namesInCut(value)) found.add(name);
    else look(parsed, '', 0);
  }
  return [...found].filter((name) => name.length <= 200 && !/[{}"\n]/.test(name));
}

const isCallKind = (kind: unknown): boolean => typeof kind === 'string' && CALL_KIND.test(kind);

const isDefinition = (item: Readonly<Record<string, unknown>>): boolean =>
  ['parameters', 'inputSchema', 'input_schema', 'description', 'parametersJsonSchema'].some(
    (key) => key in item,
  );

/** Calls in a truncated JSON text. */
const CUT_CALL =
  /"(?:tool_?calls?|function_?call|tool[_-]use|tool[_-]call)"[\s\S]{0,300}?"(?:name|toolName|tool_name)":\s*"([^"\\]{1,200})"/gi;

function namesInCut(value: string): string[] {
  if (!/^\s*[[{]/.test(value)) return [];
  return [...value.slice(0, 1_000_000).matchAll(CUT_CALL)].map(([, name]) => name!);
}

/** Mentioned tools without a step. */
export function unshownCalls(kept: readonly Node[], mentions: readonly string[]): GapNote[] {
  if (mentions.length === 0) return [];
  const known = new Set<string>();
  for (const node of kept) {
    if (isTool(node)) known.add(keyOf(node.draft.name)).add(keyOf(node.draft.rawName ?? ''));
    if (isHandoff(node)) known.add(keyOf(node.draft.to)).add(keyOf(`transfer_to_${node.draft.to}`));
    if (isAgent(node))
      known.add(keyOf(node.draft.name)).add(keyOf(`transfer_to_${node.draft.name}`));
    if (
      node.draft.kind === 'event' &&
      isFields(node.draft.data) &&
      typeof node.draft.data.name === 'string'
    )
      known.add(keyOf(node.draft.data.name));
    if (isLlm(node)) for (const { name } of node.draft.output?.calls ?? []) known.add(keyOf(name));
  }
  const lost = mentions.find((name) => !isUnnamed(name) && !known.has(keyOf(name)));
  return lost === undefined ? [] : [{ gap: 'unshown', detail: JSON.stringify(lost.slice(0, 60)) }];
}

/** Names differ by case and by how words are joined. */
const keyOf = (name: string): string =>
  splitToolName(undecorated(name))
    .name.toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

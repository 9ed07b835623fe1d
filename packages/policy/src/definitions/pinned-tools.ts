import { canonicalJson, isObject } from '@agentci/lib/data';
import type { ToolDef } from '@agentci/trace';

/** Tool definitions at review time, by name. */
export type PinnedTools = ReadonlyMap<string, ReturnType<typeof pinOf>>;

/** A tool from a server's list. */
export interface ListedTool extends ToolDef {
  /** Other fields that a model or user may see. Absent if the list was not seen. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Fields that a client may show in addition to name, description and schema. */
const SHOWN = ['title', 'annotations', 'outputSchema'];

/** Parses a `tools/list` response from JSON: the message, its result, or the list. */
export function pinnedTools(text: string): PinnedTools | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const tools = definitionsIn(value);
  if (tools === undefined || tools.length === 0) return undefined;
  return new Map(tools.map((tool) => [tool.name, pinOf(tool)]));
}

/** The definitions in a `tools/list` response. Undefined for anything else. */
export function definitionsIn(value: unknown): ListedTool[] | undefined {
  const inner = isObject(value) && isObject(value.result) ? value.result : value;
  const list = isObject(inner) ? inner.tools : inner;
  if (!Array.isArray(list)) return undefined;
  const tools = list.flatMap((tool: unknown): ListedTool[] => {
    if (!isObject(tool) || typeof tool.name !== 'string') return [];
    const schema = tool.inputSchema ?? tool.schema;
    return [
      {
        name: tool.name,
        description: typeof tool.description === 'string' ? tool.description : undefined,
        schema,
        more: Object.fromEntries(
          SHOWN.flatMap((key) => (tool[key] === undefined ? [] : [[key, tool[key]]])),
        ),
      },
    ];
  });
  return tools.length === list.length ? tools : undefined;
}

export const pinOf = ({
  description = '',
  schema,
  more = {},
}: Pick<ListedTool, 'description' | 'schema' | 'more'>) => ({
  description,
  schema: canonicalJson(schema ?? null),
  more: canonicalJson(more),
});

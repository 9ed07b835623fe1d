import { canonicalJson, isObject } from '@agentci/lib/data';
import type { ToolDef } from '@agentci/trace';

/** Tools as they were when someone looked at them, by name. */
export type PinnedTools = ReadonlyMap<string, ReturnType<typeof pinOf>>;

/** A tool as a server lists it. */
export interface ListedTool extends ToolDef {
  /** What else a model or a user may be shown of it; absent where the list itself was not seen. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Fields that a client may show, beside the name, the description and the schema. */
const SHOWN = ['title', 'annotations', 'outputSchema'];

/** Reads an answer to `tools/list`, as JSON: the message, its result, or the list. */
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

/** The definitions in an answer to `tools/list`; undefined where it is not one. */
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

import { isObject } from '@agentci/lib/data';
import { itemSpans, rootSpan, type Span, valueSpan, withItems } from '../raw-json.ts';

/**
 * Removes hidden tools from a list. The rest of the text stays unchanged. `text` is one message.
 */
export function filterTools(text: string, isHidden: (name: string) => boolean): string {
  const tools = toolsSpan(text);
  if (tools === undefined) return text;
  const items = itemSpans(text, tools);
  const kept = items.filter(({ start, end }) => {
    const tool: unknown = JSON.parse(text.slice(start, end));
    return !(isObject(tool) && typeof tool.name === 'string' && isHidden(tool.name));
  });
  return kept.length === items.length ? text : withItems(text, tools, kept);
}

function toolsSpan(text: string): Span | undefined {
  const root = rootSpan(text);
  const result = text[root.start] === '{' ? valueSpan(text, root, 'result') : undefined;
  if (result === undefined || text[result.start] !== '{') return undefined;
  const tools = valueSpan(text, result, 'tools');
  return tools === undefined || text[tools.start] !== '[' ? undefined : tools;
}

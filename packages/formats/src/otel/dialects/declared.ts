import { type Fields, isFields } from '@agentci/trace';
import { UNNAMED } from '../../build/blocks.ts';
import { undecorated } from '../../build/span-name.ts';
import { argumentsOf, label, pick, resultOf, unpacked } from '../../build/values.ts';
import { fate, type Reading } from '../dialect.ts';
import type { Span } from '../span.ts';

/**
 * Attributes in which instrumentations declare the span type, with any prefix: `lmnr.span.type`,
 * `opik.type`.
 */
const KIND_KEY =
  /(?:^|[._:-])(?:span_?)?(?:kind|type|sub_?type|operation(?:[._]name)?|category|op)$/i;
/** Such an attribute may be an object with the kind as a field. */
const KIND_OBJECT = /(?:^|[._:-])span_?attributes$|(?:^|[._:-])metadata$/i;
const TOOL_KIND =
  /^(?:[\w-]{1,40}[._:/ ])?(?:tool|mcp_?tool|(?:tool|function)s?[._ /-]?(?:call|use|execution|invocation|run|step)s?|(?:call|execute|run|invoke|use)[._ -]?(?:tool|function)s?|tool_?(?:invoker|node|executor))$/i;
/** Names of spans that are nothing but a tool's. */
const TOOL_NAME =
  /^(?:langchain4j\.tools?\.|execute_tool |executing tool |running tool:? |tools\/call |tool[ :] ?)(\S.{0,200})$|^(\S{1,200})\.tool$/i;
const NAME_KEY = /(?:^|[._:])(?:tool|function)[._]?(?:call[._]?)?name$/i;
/** Names that tell the machinery and not the tool. */
const MACHINERY =
  /(?:^|\.)(?:__call__|call|run|invoke|execute|_?a?run|tool)$|^haystack\.|^(?:GET|POST) |tool[_ ]?(?:invoker|node|executor)/i;
/** Keys of tool definitions and tool choices. */
const NOT_KIND =
  /tool[._](?:type|choice)|choice[._]type|response[._]?format|schema|content[._-]?type|error[._]type|exception|message|\.\d+\./i;

/** A span of an unknown instrumentation that declares itself a tool. */
export function declaredTool(span: Span): Reading | undefined {
  if (!saysTool(span)) return undefined;
  const { attributes } = span;
  const entries = Object.entries(attributes);
  return {
    kind: 'tool',
    name: nameOf(span),
    ...fate(span),
    ...argumentsOf(
      valueAt(
        entries,
        /(?:^|[._:])(?:input|inputs|args|arguments|parameters)(?:[._](?:value|json))?$|input_json$/i,
      ),
    ),
    callId: label(valueAt(entries, /tool_?call[._]?id$/i)),
    result: resultOf(
      valueAt(
        entries,
        /(?:^|[._:])(?:output|outputs|result|response)(?:[._](?:value|json))?$|output_json$/i,
      ),
    ),
  };
}

const valueAt = (entries: readonly (readonly [string, unknown])[], key: RegExp): unknown =>
  entries.find(([name, value]) => key.test(name) && value !== undefined && value !== null)?.[1];

function saysTool({ name, attributes }: Span): boolean {
  if (TOOL_NAME.test(name)) return true;
  if (isToolKind(name) && Object.keys(attributes).some((key) => NAME_KEY.test(key))) return true;
  if (
    pick(attributes, 'rpc.method', 'mcp.method', 'mcp.method.name', 'jsonrpc.method') ===
    'tools/call'
  )
    return true;
  return Object.entries(attributes).some(([key, value]) => {
    if (NOT_KIND.test(key)) return false;
    if (KIND_KEY.test(key)) return isToolKind(value);
    const inner = KIND_OBJECT.test(key) ? unpacked(value) : undefined;
    return isFields(inner) && (isToolKind(inner.type) || isToolKind(inner.kind));
  });
}

/** Whether the value of an attribute, not only its presence, may declare a tool. */
export const mayTellKind = (key: string): boolean => KIND_KEY.test(key) || KIND_OBJECT.test(key);

const isToolKind = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 80 && TOOL_KIND.test(value.replace(/^"|"$/g, ''));

function nameOf({ name, attributes }: Span): string {
  const [, said] =
    Object.entries(attributes).find(([key, value]) => NAME_KEY.test(key) && label(value)) ?? [];
  const inner = objectName(attributes);
  const [, after, before] = TOOL_NAME.exec(name) ?? [];
  const own = after ?? before ?? undecorated(name);
  // The conventions have an attribute for the tool name, so a span without it does not identify the
  // tool.
  const isGenAi = own === name && Object.keys(attributes).some((key) => key.startsWith('gen_ai.'));
  return label(said) ?? inner ?? (isGenAi || MACHINERY.test(own) ? UNNAMED : own);
}

function objectName(attributes: Fields): string | undefined {
  for (const [key, value] of Object.entries(attributes)) {
    const inner = KIND_OBJECT.test(key) ? unpacked(value) : undefined;
    if (isFields(inner) && typeof inner.name === 'string') return label(inner.name);
  }
  return undefined;
}

import { type Fields, isFields } from '@agentci/trace';

const MAX_DEPTH = 64;
/** Name of `scopeSpans` before version 0.15 of the protocol. */
const OLD_NAMES: Readonly<Record<string, string>> = {
  instrumentationLibrarySpans: 'scopeSpans',
  instrumentationLibrary: 'scope',
};
const SNAKE = /_([a-z])/g;

/**
 * A request in the JSON format of the protocol. Some programs keep the field names of protobuf:
 * `resource_spans`.
 */
export function camelRequest(request: unknown): unknown {
  if (!isFields(request) || isCamel(request)) return request;
  return camel(request, 0);
}

/** Whether a request has readable content: spans or log records in the places of the protocol. */
export const isRequest = (value: unknown): boolean =>
  isFields(value) && (Array.isArray(value.resourceSpans) || Array.isArray(value.resourceLogs));

/** The first item of each list represents all. */
function isCamel(request: Fields): boolean {
  let item: unknown = request;
  for (let depth = 0; depth < MAX_DEPTH && isFields(item); depth++) {
    const keys = Object.keys(item);
    if (keys.some((key) => key.includes('_') || Object.hasOwn(OLD_NAMES, key))) return false;
    const list: unknown = LISTS.map((key) => (item as Fields)[key]).find(Array.isArray);
    item = Array.isArray(list) ? list[0] : undefined;
  }
  return true;
}
const LISTS = ['resourceSpans', 'resourceLogs', 'scopeSpans', 'scopeLogs', 'spans', 'logRecords'];

function camel(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((item) => camel(item, depth + 1));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key.replace(SNAKE, (_, letter: string) => letter.toUpperCase());
      // Attributes as an object, which some programs send, have free names.
      const isOwn = name === 'attributes' && isFields(inner);
      return [
        Object.hasOwn(OLD_NAMES, name) ? OLD_NAMES[name]! : name,
        isOwn ? inner : camel(inner, depth + 1),
      ];
    }),
  );
}

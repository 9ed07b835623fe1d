import { isObject } from '@agentci/lib/data';

const BLOCKS: ReadonlySet<unknown> = new Set([
  'text',
  'image',
  'audio',
  'resource',
  'resource_link',
]);
/** Protocol metadata of a content block, with the same words in every answer. */
const ANNOTATIONS: ReadonlySet<string> = new Set(['audience', 'priority', 'lastModified']);

/** The data of an MCP result, without the fields for the content kind. */
export function withoutEnvelope(value: unknown): unknown {
  if (Array.isArray(value)) return value.some(isBlock) ? value.map(blockData) : value;
  if (!isObject(value)) return value;
  if (Array.isArray(value.content) && value.content.some(isBlock))
    return { ...value, content: value.content.map(blockData) };
  return isBlock(value) || isObject(value.annotations) ? blockData(value) : value;
}

const isBlock = (part: unknown): boolean => isObject(part) && BLOCKS.has(part.type);

function blockData(part: unknown): unknown {
  if (!isObject(part)) return part;
  const { type, mimeType, annotations, resource, ...data } = part;
  return {
    ...data,
    ...(resource === undefined ? {} : { resource: blockData(resource) }),
    ...(isFormal(type, /^[a-z_]{1,20}$/) ? {} : { type }),
    ...(isFormal(mimeType, /^[\w.+-]{1,60}\/[\w.+-]{1,80}$/) ? {} : { mimeType }),
    ...(annotations === undefined ? {} : { annotations: annotationData(annotations) }),
  };
}

const isFormal = (value: unknown, form: RegExp): boolean =>
  value === undefined || (typeof value === 'string' && form.test(value));

function annotationData(annotations: unknown): unknown {
  if (!isObject(annotations)) return annotations;
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !ANNOTATIONS.has(key)));
}

import { isObject } from '../data/object.ts';
import { SCHEMA_KEYWORDS } from './json-schema-shape.ts';
import { CHECKED_FORMATS } from './json-schema-words.ts';

const ALL_TYPES = ['array', 'boolean', 'null', 'number', 'object', 'string'];
const ALWAYS_DECIDES = new Set([
  'const',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minimum',
  'multipleOf',
]);
const DECIDES_ABOVE_ZERO = new Set(['minItems', 'minLength', 'minProperties']);

/**
 * Whether any value can violate the schema. `{}`, `true` and pure annotations cannot fail, so a
 * check with them checks nothing.
 */
export function canFail(schema: unknown): boolean {
  return decides(schema, schema, new Set());
}

function decides(schema: unknown, root: unknown, open: Set<unknown>): boolean {
  if (schema === false) return true;
  // A reference back to an open schema adds nothing.
  if (!isObject(schema) || open.has(schema)) return false;
  open.add(schema);
  const sub = (value: unknown): boolean => decides(value, root, open);
  const result = Object.entries(schema).some(([keyword, value]) =>
    keywordDecides(keyword, value, schema, sub, root),
  );
  open.delete(schema);
  return result;
}

function keywordDecides(
  keyword: string,
  value: unknown,
  schema: Record<string, unknown>,
  sub: (value: unknown) => boolean,
  root: unknown,
): boolean {
  if (ALWAYS_DECIDES.has(keyword)) return true;
  if (DECIDES_ABOVE_ZERO.has(keyword)) return typeof value === 'number' && value > 0;
  const list = Array.isArray(value) ? value : [];
  const entries = isObject(value) ? Object.values(value) : [];
  switch (keyword) {
    case 'type':
      return !Array.isArray(value) || !ALL_TYPES.every((type) => value.includes(type));
    case 'pattern':
      return value !== '';
    case 'format':
      return typeof value === 'string' && CHECKED_FORMATS.has(value);
    case 'required':
      return list.length > 0;
    case 'uniqueItems':
      return value === true;
    case 'allOf':
    case 'prefixItems':
      return list.some(sub);
    case 'anyOf':
      return list.every(sub);
    case 'oneOf':
      return list.length > 1 || list.some(sub);
    case 'not':
      return value !== false;
    case 'if':
    case '$defs':
    case 'definitions':
      return false;
    case 'then':
    case 'else':
      return Object.hasOwn(schema, 'if') && sub(value);
    case 'contains':
      return schema.minContains !== 0 || schema.maxContains !== undefined;
    case 'properties':
    case 'patternProperties':
    case 'dependentSchemas':
      return entries.some(sub);
    case 'dependentRequired':
    case 'dependencies':
      return entries.some((entry) => (Array.isArray(entry) ? entry.length > 0 : sub(entry)));
    case 'items':
      return Array.isArray(value) ? list.some(sub) : sub(value);
    case '$ref':
      return typeof value === 'string' && refDecides(value, root, sub);
    default:
      return SCHEMA_KEYWORDS.has(keyword) && sub(value);
  }
}

/** Follows only local pointers. Any other reference is assumed to constrain values. */
function refDecides(ref: string, root: unknown, sub: (value: unknown) => boolean): boolean {
  if (ref === '#') return sub(root);
  if (!ref.startsWith('#/')) return true;
  let target: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = decodePart(part);
    let next: unknown;
    if (Array.isArray(target)) next = target[Number(key)];
    else if (isObject(target) && Object.hasOwn(target, key)) next = target[key];
    else next = undefined;
    if (next === undefined) return true;
    target = next;
  }
  return sub(target);
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}

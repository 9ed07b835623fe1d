import { isObject } from '@agentci/lib/data';
import { canFail } from '@agentci/lib/json-schema';
import type { Block, BlockValue } from './model.ts';
import { refusedBy } from './schema-strict.ts';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';
/** Keywords that every draft-7 validator interprets alike. */
const PLAIN = new Set([
  ...[
    'type',
    'properties',
    'required',
    'enum',
    'const',
    'items',
    'additionalProperties',
    'description',
    'title',
  ],
  ...[
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
  ],
  ...[
    'minProperties',
    'maxProperties',
    'uniqueItems',
    'anyOf',
    'oneOf',
    'allOf',
    'not',
    'pattern',
    'default',
    'examples',
  ],
  ...[
    '$schema',
    'patternProperties',
    'propertyNames',
    'contains',
    'if',
    'then',
    'else',
    '$comment',
  ],
]);

export type SchemaFit =
  | { readonly kind: 'any' }
  | { readonly kind: 'schema'; readonly schema: Block; readonly why?: string }
  | { readonly kind: 'none'; readonly why: string };

/**
 * A JSON Schema from a tool that uses draft 7: sets the draft explicitly, because our default is a
 * later one.
 */
export function draft7(schema: unknown): SchemaFit {
  if (!isObject(schema)) return { kind: 'none', why: 'the schema is not a map' };
  const draft = schema.$schema;
  if (draft !== undefined && (typeof draft !== 'string' || !/draft-07\/schema#?$/.test(draft)))
    return {
      kind: 'none',
      why: `the schema is of ${String(draft).slice(0, 60)}, which is refused there`,
    };
  const refused = refusedBy(schema);
  if (refused !== undefined)
    return {
      kind: 'none',
      why: `${refused} is refused there, so that the assertion fails whatever the answer is`,
    };
  if (!canFail(schema)) return { kind: 'any' };
  const odd = unplain(schema);
  const pinned = { $schema: DRAFT_7, ...schema } as Block;
  return odd === undefined
    ? { kind: 'schema', schema: pinned }
    : { kind: 'schema', schema: pinned, why: `validators differ in the keyword "${odd}"` };
}

/** The first keyword with tool-specific behavior. */
function unplain(schema: BlockValue | unknown): string | undefined {
  if (!isObject(schema)) return undefined;
  for (const [key, value] of Object.entries(schema)) {
    if (!PLAIN.has(key)) return key;
    if (key === 'properties' || key === 'patternProperties') {
      for (const inner of Object.values(isObject(value) ? value : {})) {
        const odd = unplain(inner);
        if (odd !== undefined) return odd;
      }
    } else if (key !== 'enum' && key !== 'const' && key !== 'default' && key !== 'examples')
      for (const inner of Array.isArray(value) ? value : [value]) {
        const odd = unplain(inner);
        if (odd !== undefined) return odd;
      }
  }
  return undefined;
}

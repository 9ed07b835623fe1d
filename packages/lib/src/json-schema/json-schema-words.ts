import { didYouMean } from '../text/did-you-mean.ts';
import {
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
  subschemas,
} from './json-schema-shape.ts';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The formats the validator knows; a value of any other is accepted whatever it is. */
export const CHECKED_FORMATS: ReadonlySet<string> = new Set(
  words(`
    date time date-time duration email hostname ipv4 ipv6 uuid regex uri uri-reference uri-template url iri
    iri-reference idn-hostname idn-email json-pointer json-pointer-uri-fragment relative-json-pointer`),
);

export const KEYWORDS: ReadonlySet<string> = new Set([
  ...words(`
    type enum const format pattern required items dependencies dependentRequired multipleOf minimum maximum
    exclusiveMinimum exclusiveMaximum uniqueItems minLength maxLength minItems maxItems minProperties maxProperties
    minContains maxContains $schema $id id $ref $anchor $recursiveRef $recursiveAnchor $vocabulary`),
  ...SCHEMA_KEYWORDS,
  ...SCHEMA_LIST_KEYWORDS,
  ...SCHEMA_MAP_KEYWORDS,
]);
/** They say something to people or to other programs and decide nothing, in no draft. */
export const NOTES: ReadonlySet<string> = new Set(
  words(`
    $comment title description default examples example deprecated readOnly writeOnly
    contentEncoding contentMediaType contentSchema`),
);

/** A word of a schema that the validator passes over. */
export interface UnknownWord {
  readonly kind: 'keyword' | 'format';
  readonly word: string;
  readonly path: readonly (string | number)[];
  /** The word that was probably meant. */
  readonly near?: string;
}

/**
 * Every keyword and format that has no effect. The standard says to pass over what is not known, so a misspelt `required`
 * would require nothing. Keywords that start with `x-` are someone's own by convention.
 */
export function unknownWords(schema: unknown): UnknownWord[] {
  const found: UnknownWord[] = [];
  visit(schema, [], found);
  return found;
}

function visit(schema: unknown, path: readonly (string | number)[], found: UnknownWord[]): void {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const at = [...path, keyword];
    if (!KEYWORDS.has(keyword) && !NOTES.has(keyword) && !keyword.startsWith('x-'))
      found.push(unknown('keyword', keyword, at, KEYWORDS));
    if (keyword === 'format' && typeof value === 'string' && !CHECKED_FORMATS.has(value))
      found.push(unknown('format', value, at, CHECKED_FORMATS));
  }
  for (const [steps, part] of subschemas(schema)) visit(part, [...path, ...steps], found);
}

function unknown(
  kind: UnknownWord['kind'],
  word: string,
  path: readonly (string | number)[],
  known: ReadonlySet<string>,
): UnknownWord {
  const near = didYouMean(word, known);
  return { kind, word, path, near };
}

import { didYouMean } from '../text/did-you-mean.ts';
import {
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
  subschemas,
} from './json-schema-shape.ts';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Formats that the validator checks. It accepts any value for other formats. */
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
/** Annotations, which decide nothing in any draft. */
export const NOTES: ReadonlySet<string> = new Set(
  words(`
    $comment title description default examples example deprecated readOnly writeOnly
    contentEncoding contentMediaType contentSchema`),
);

/** A keyword or format that the validator ignores. */
export interface UnknownWord {
  readonly kind: 'keyword' | 'format';
  readonly word: string;
  readonly path: readonly (string | number)[];
  /** The likely intended word. */
  readonly near?: string;
}

/**
 * Keywords and formats without effect. The standard ignores unknown ones, so a misspelt `required`
 * would require nothing. Keywords that start with `x-` are extensions by convention.
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

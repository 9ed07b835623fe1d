import { SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import type { YamlScalar, YamlScalarValue, YamlSource } from './yaml-node.ts';
import type { TextPart } from './yaml-parts.ts';
import { coreTag, resolvePlain, resolveTagged } from './yaml-scalar.ts';

/** Takes a problem at an offset; the reader continues after it. */
export type Report = (start: number, code: string, message: string, hint?: string) => void;

/** What every part of the composer needs to know of the text it reads. */
export interface YamlText {
  readonly source: YamlSource;
  /** Tags, beside those of the core schema, that scalars may carry. */
  readonly tags: ReadonlySet<string>;
  readonly report: Report;
  /** What is read of the source, when that is not the whole. */
  readonly part?: TextPart;
}

const SCALAR_STYLES = {
  [SCALAR_STYLE.PLAIN]: 'plain',
  [SCALAR_STYLE.SINGLE_QUOTED]: 'quoted',
  [SCALAR_STYLE.DOUBLE_QUOTED]: 'quoted',
  [SCALAR_STYLE.LITERAL_BLOCK]: 'block',
  [SCALAR_STYLE.FOLDED_BLOCK]: 'block',
} as const;

/** The node of a scalar, its value resolved by its tag or, when plain, by its text. */
export function makeScalar(
  event: ScalarEvent,
  value: string,
  start: number,
  of: YamlText,
): YamlScalar {
  const { source } = of;
  const style = SCALAR_STYLES[event.style];
  if (event.tagStart < 0)
    return {
      kind: 'scalar',
      source,
      start,
      style,
      value: style === 'plain' ? resolvePlain(value) : value,
    };
  const base = { kind: 'scalar', source, start, style } as const;
  const tag = (of.part?.text ?? source.text).slice(event.tagStart, event.tagEnd);
  if (tag === '!') return { ...base, value };
  if (of.tags.has(tag)) return { ...base, value, tag };
  const core = coreTag(tag);
  const resolved: YamlScalarValue | undefined =
    core === undefined ? undefined : resolveTagged(value, core);
  if (resolved !== undefined) return { ...base, value: resolved };
  if (core === undefined)
    of.report(start, 'YAML_TAG', `the tag ${tag} is not known`, tagHint(of.tags));
  else
    of.report(
      start,
      'YAML_TAG',
      `this value does not fit the tag ${tag}`,
      'leave the tag out, or correct the value',
    );
  return brokenScalar(source, start);
}

/** Stands for a value that could not be read, so that what is around it can. */
export const brokenScalar = (source: YamlSource, start: number): YamlScalar => ({
  kind: 'scalar',
  value: null,
  style: 'plain',
  source,
  start,
  broken: true,
});

export const tagHint = (tags: ReadonlySet<string>): string =>
  tags.size === 0 ? 'leave the tag out' : `the tags known here: ${[...tags].join(', ')}`;

/** Where a scalar that is written out starts: at its tag, its quote, or the `|` or `>` of a block. */
export function scalarStart(event: ScalarEvent, value: string, text: string): number {
  if (event.tagStart >= 0) return event.tagStart;
  if (event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED)
    return event.valueStart - 1;
  if (event.style === SCALAR_STYLE.PLAIN || value === '') return event.valueStart;
  return blockHeader(text, event.valueStart);
}

/** The `|` or `>` before a block scalar, whose own offset is that of its first line. */
function blockHeader(text: string, valueStart: number): number {
  const lineEnd = valueStart - 1;
  const lineStart = text.lastIndexOf('\n', lineEnd - 1) + 1;
  const header = /[|>][-+0-9]{0,2}[ \t]*(?:#.*)?\r?$/.exec(text.slice(lineStart, lineEnd));
  return header === null ? valueStart : lineStart + header.index;
}

/** Past the quote and the brackets that end a value. */
export function skipClosers(text: string, from: number): number {
  const closers = /[\s\]}"']*/y;
  closers.lastIndex = from;
  closers.test(text);
  return closers.lastIndex;
}

/** The next offset that is neither white space nor comment. */
export function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const character = text.charCodeAt(at);
    if (character === 0x23) {
      const lineEnd = text.indexOf('\n', at);
      if (lineEnd < 0) return text.length;
      at = lineEnd;
    } else if (character !== 0x20 && (character < 0x09 || character > 0x0d)) return at;
    at++;
  }
  return at;
}

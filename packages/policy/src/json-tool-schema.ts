import { isObject } from '@agentci/lib/data';
import {
  canFail,
  compileJsonSchema,
  KEYWORDS,
  NOTES,
  SCHEMA_KEYWORDS,
  SCHEMA_LIST_KEYWORDS,
  SCHEMA_MAP_KEYWORDS,
} from '@agentci/lib/json-schema';
import type { Problems } from '@agentci/lib/problems';
import {
  keyPlace,
  locate,
  placeAt,
  setOwn,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '@agentci/lib/yaml';
import { ArgumentCompiler } from './argument-schema.ts';
import type { Constraint } from './constraint.ts';
import { FORMATS } from './formats.ts';
import { unknownHint } from './issue.ts';

const KNOWN = [...KEYWORDS, ...NOTES];
/** Keywords that our compiler handles exactly like the standard. */
const OWN = new Set(
  `type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern format
   minItems maxItems uniqueItems required items properties additionalProperties $ref $defs
   title description default examples deprecated`.split(/\s+/),
);

/**
 * Compiles one schema of the v2 form (JSON Schema). Simple schemas use the policy's compiler, which
 * is faster and knows the line of every keyword. Others use the general validator.
 */
export function compileToolSchema(
  entry: YamlEntry,
  shared: YamlMap | undefined,
  problems: Problems,
): Constraint | undefined {
  const node = entry.value;
  const before = problems.errors;
  reportUnknown(node, problems);
  const plain = withShared(node, shared, problems);
  if (problems.errors > before) return undefined;
  const compiled = compileJsonSchema(plain);
  if (!compiled.ok) {
    const message = `the schema of "${entry.key}" does not compile: ${compiled.message}`;
    problems.add(placeAt(node, pointerPath(compiled.path)), { code: 'POLICY_SCHEMA', message });
    return undefined;
  }
  if (!canFail(plain)) {
    const message = `the schema of "${entry.key}" allows everything, so it cannot fail`;
    problems.add(keyPlace(entry), { code: 'POLICY_CANNOT_FAIL', message });
    return undefined;
  }
  if (isOwn(node, shared, 0)) {
    const resolve = (ref: YamlEntry) => definition(String(toPlain(ref.value)), node, shared);
    const own = new ArgumentCompiler({ problems, resolve, dialect: 'json-schema' }).value(
      node,
      'block',
    );
    if (own !== undefined) return own;
  }
  return general(compiled.validate, entry);
}

function general(
  validate: Extract<ReturnType<typeof compileJsonSchema>, { ok: true }>['validate'],
  entry: YamlEntry,
): Constraint {
  const place = locate(entry.keySource, entry.keyStart);
  return {
    decides: true,
    check: (value, at, sink) => {
      const verdict = validate(value);
      if (verdict.valid) return;
      if (verdict.timedOut) {
        sink.unknown(at, 'the schema gave no answer in time');
        return;
      }
      for (const { path, keyword, message } of verdict.errors) {
        const inside = argumentPath(path);
        sink.found({
          at: inside,
          value: valueAt(value, path),
          constraint: keyword,
          message,
          place,
          onViolation: 'block',
        });
      }
    },
  };
}

const pointerPath = (pointer: string): string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

const argumentPath = (pointer: string): string =>
  pointerPath(pointer)
    .map((part, i) => {
      if (/^\d+$/.test(part)) return `[${part}]`;
      if (i === 0) return part;
      return `.${part}`;
    })
    .join('');

function valueAt(value: unknown, pointer: string): unknown {
  let current = value;
  for (const part of pointerPath(pointer)) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, part))
      return null;
    current = (current as Readonly<Record<string, unknown>>)[part];
  }
  return current;
}

/** `min: 3` is not a JSON Schema keyword, and a validator would ignore it. */
function reportUnknown(root: YamlNode, problems: Problems): void {
  const visit = (node: YamlNode): void => {
    if (node.kind !== 'map') return;
    for (const entry of node.entries.values()) {
      const { key, value } = entry;
      if (!KNOWN.includes(key)) {
        const hint = unknownHint(key, KNOWN, 'the keywords');
        problems.add(keyPlace(entry), {
          code: 'POLICY_UNKNOWN_KEY',
          message: `JSON Schema has no keyword "${key}"`,
          hint,
        });
      } else if (SCHEMA_MAP_KEYWORDS.has(key)) {
        if (value.kind === 'map') for (const inner of value.entries.values()) visit(inner.value);
      } else if (SCHEMA_LIST_KEYWORDS.has(key) || (key === 'items' && value.kind === 'seq')) {
        if (value.kind === 'seq') value.items.forEach(visit);
      } else if (key === 'items' || SCHEMA_KEYWORDS.has(key)) visit(value);
    }
  };
  visit(root);
}

/** Adds the shared definitions. A name in both would be ambiguous. */
function withShared(node: YamlNode, shared: YamlMap | undefined, problems: Problems): unknown {
  const plain = toPlain(node);
  if (shared === undefined || !isObject(plain) || node.kind !== 'map') return plain;
  const own = node.entries.get('$defs');
  const defs: Record<string, unknown> = {};
  for (const [name, entry] of shared.entries) setOwn(defs, name, toPlain(entry.value));
  if (own?.value.kind === 'map') {
    for (const [name, entry] of own.value.entries) {
      if (shared.entries.has(name)) {
        const message = `"${name}" is defined here and in the shared $defs`;
        problems.add(keyPlace(entry), {
          code: 'POLICY_VALUE',
          message,
          hint: 'rename one of them',
        });
      }
      setOwn(defs, name, toPlain(entry.value));
    }
  }
  return { ...plain, $defs: defs };
}

function definition(
  ref: string,
  node: YamlNode,
  shared: YamlMap | undefined,
): YamlNode | undefined {
  const name = /^#\/\$defs\/([^/%]+)$/.exec(ref)?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
  if (name === undefined || node.kind !== 'map') return undefined;
  const own = node.entries.get('$defs')?.value;
  return (
    (own?.kind === 'map' ? own.entries.get(name)?.value : undefined) ??
    shared?.entries.get(name)?.value
  );
}

const MAX_REFERENCES = 32;

/**
 * Whether the policy's compiler supports the schema. A reference must be alone in its map and not
 * circular.
 */
function isOwn(
  root: YamlNode,
  shared: YamlMap | undefined,
  depth: number,
  node: YamlNode = root,
): boolean {
  if (node.kind !== 'map' || depth > MAX_REFERENCES) return false;
  for (const { key, value } of node.entries.values()) {
    if (!OWN.has(key)) return false;
    if (key === '$ref') {
      const target = definition(String(toPlain(value)), root, shared);
      if (node.entries.size > 1 || target === undefined || !isOwn(root, shared, depth + 1, target))
        return false;
    }
    if (key === 'format' && !FORMATS.has(String(toPlain(value)))) return false;
    if (key === 'items' && !isOwn(root, shared, depth, value)) return false;
    if (
      key === 'additionalProperties' &&
      value.kind !== 'scalar' &&
      !isOwn(root, shared, depth, value)
    )
      return false;
    if (key === 'properties') {
      if (value.kind !== 'map') return false;
      for (const entry of value.entries.values())
        if (!isOwn(root, shared, depth, entry.value)) return false;
    }
  }
  return true;
}

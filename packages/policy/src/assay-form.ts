import { present } from '@agentci/lib/data';
import type { Problems } from '@agentci/lib/problems';
import {
  keyPlace,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlScalarValue,
} from '@agentci/lib/yaml';

const isNothing = (node: YamlNode): boolean =>
  node.kind === 'scalar' && node.value === null && node.broken !== true;
const isEmpty = (node: YamlNode): boolean =>
  isNothing(node) || (node.kind === 'seq' && node.items.length === 0);

export const SCHEMA_SIGNS = [
  'type',
  'properties',
  'required',
  'additionalProperties',
  '$ref',
  'anyOf',
  'oneOf',
  'allOf',
];

const looksLikeSchema = (node: YamlNode): boolean =>
  node.kind === 'map' && SCHEMA_SIGNS.some((key) => node.entries.has(key));

/**
 * Converts a policy from other versions of Assay to this form: drops empty keys, moves root lists
 * and constraints to `tools`, and reads a plain map from tools to schemas as `schemas`. Leaves
 * unsupported keys in place, to be rejected there.
 */
export function fromAssayForm(
  root: YamlMap,
  known: readonly string[],
  problems: Problems,
): YamlMap {
  const written = [...root.entries.values()]
    .filter((entry) => !isSaidAnyway(entry) && (!isNothing(entry.value) || entry.key === 'tools'))
    .map((entry) => (WITHOUT_NULLS.includes(entry.key) ? withoutNulls(entry) : entry));
  const hasChanged =
    written.length !== root.entries.size ||
    written.some((entry) => root.entries.get(entry.key) !== entry);
  const plain = written.filter(({ key }) => !NOTES.includes(key));
  const isSchemaMap =
    plain.length > 0 &&
    plain.every(
      ({ key, value }) => !known.includes(key) && !MOVED.includes(key) && looksLikeSchema(value),
    );
  if (isSchemaMap) {
    const notes = written.filter(({ key }) => NOTES.includes(key));
    const schemas = entryAt(plain[0]!, 'schemas', mapAt(root, plain));
    return mapAt(root, [...notes, schemas]);
  }
  if (
    !written.some(
      ({ key, value }) => MOVED.includes(key) || (key === 'tools' && hasArgumentConstraints(value)),
    )
  )
    return hasChanged ? mapAt(root, written) : root;
  const tools = written.find(({ key }) => key === 'tools');
  const inTools = tools?.value.kind === 'map' ? [...tools.value.entries.values()] : [];
  const moved = inTools.filter(
    ({ key, value }) =>
      key !== 'arg_constraints' && !isNothing(value) && !isIdle(key, tools!.value as YamlMap),
  );
  const constraints = [
    ...written.filter(({ key }) => key === 'constraints'),
    ...inTools.filter(({ key }) => key === 'arg_constraints'),
  ];
  for (const list of written.filter(({ key }) => key === 'allow' || key === 'deny')) {
    if (isEmpty(list.value)) continue;
    const before = moved.findIndex(({ key }) => key === list.key);
    if (before < 0) moved.push(list);
    else moved[before] = entryAt(list, list.key, joined(moved[before]!.value, list.value));
  }
  for (const entry of constraints.filter(({ value }) => !isEmpty(value)))
    for (const tool of constrainedTools(entry, problems)) addTool(moved, tool);
  const anchor = tools ?? written.find(({ key }) => MOVED.includes(key))!;
  const rest = written.filter(({ key }) => key !== 'tools' && !MOVED.includes(key));
  return mapAt(
    root,
    moved.length === 0 ? rest : [...rest, entryAt(anchor, 'tools', mapAt(anchor.value, moved))],
  );
}

const WITHOUT_NULLS = ['limits', 'enforcement'];

function withoutNulls(entry: YamlEntry): YamlEntry {
  const { value } = entry;
  if (value.kind !== 'map' || ![...value.entries.values()].some((each) => isNothing(each.value)))
    return entry;
  return {
    ...entry,
    value: mapAt(
      value,
      [...value.entries.values()].filter((each) => !isNothing(each.value)),
    ),
  };
}

/** Blocking on errors is the default here. */
const isSaidAnyway = ({ key, value }: YamlEntry): boolean =>
  key === 'on_error' && value.kind === 'scalar' && value.value === 'block';

const NOTES = ['version', 'name', 'description'];
const MOVED = ['allow', 'deny', 'constraints'];

const hasArgumentConstraints = (node: YamlNode): boolean =>
  node.kind === 'map' &&
  [...node.entries.values()].some(
    ({ key, value }) => key === 'arg_constraints' || isNothing(value) || isIdle(key, node),
  );

/** An empty deny list has no effect next to other keys. Alone it is a mistake. */
const isIdle = (key: string, { entries }: YamlMap): boolean =>
  key === 'deny' && entries.size > 1 && isEmpty(entries.get(key)!.value);

/** `{tool: {argument: pattern}}`, or a list of `{tool, params: {argument: {matches: pattern}}}`. */
function constrainedTools({ value }: YamlEntry, problems: Problems): YamlEntry[] {
  if (value.kind === 'map')
    return [...value.entries.values()].flatMap((tool) =>
      toolOf(tool, tool.key, tool.value, problems),
    );
  if (value.kind !== 'seq') return wrong(value, problems);
  return value.items.flatMap((item) => {
    const tool = item.kind === 'map' ? item.entries.get('tool') : undefined;
    const params = item.kind === 'map' ? item.entries.get('params') : undefined;
    if (tool?.value.kind !== 'scalar' || params === undefined) return wrong(item, problems);
    return toolOf(tool, String(tool.value.value), params.value, problems);
  });
}

function toolOf(at: YamlEntry, name: string, params: YamlNode, problems: Problems): YamlEntry[] {
  if (params.kind !== 'map') return wrong(params, problems);
  const listed = [...params.entries.values()].flatMap((param): YamlEntry[] => {
    const { value } = param;
    if (param.key === 'deny_patterns') {
      problems.add(keyPlace(param), {
        code: 'POLICY_UNKNOWN_KEY',
        message: '"deny_patterns" is not read here',
        hint: `write rules: [{type: blocklist, tools: [{tool: ${name}, args_match: {argument: pattern}}]}]`,
      });
      return [];
    }
    const pattern =
      value.kind === 'map'
        ? (value.entries.get('matches') ?? value.entries.get('pattern'))?.value
        : value;
    const others =
      value.kind === 'map'
        ? [...value.entries.values()].filter(({ key }) => key !== 'matches')
        : [];
    const isPlain = pattern?.kind === 'scalar' && typeof pattern.value === 'string';
    if (!isPlain && others.length === 0) return wrong(value, problems);
    const keywords = present([
      ...others.filter(({ key }) => key !== 'pattern' && key !== 'required'),
      isPlain ? entryAt(param, 'pattern', pattern) : undefined,
      entryAt(param, 'required', scalarAt(value, true)),
    ]);
    if (isPlain && !others.some(({ key }) => key === 'type'))
      keywords.unshift(entryAt(param, 'type', scalarAt(value, 'string')));
    return [entryAt(param, param.key, mapAt(value, keywords))];
  });
  return listed.length === 0
    ? []
    : [entryAt(at, name, mapAt(params, [entryAt(at, 'arguments', mapAt(params, listed))]))];
}

function wrong(node: YamlNode, problems: Problems): [] {
  problems.add(node, {
    code: 'POLICY_VALUE',
    message: 'a constraint is {tool: {argument: pattern}}',
    hint: 'or write it as tools.<name>.arguments',
  });
  return [];
}

/** An existing tool keeps its keys. The constraint is added like a policy of the same tool. */
function addTool(tools: YamlEntry[], tool: YamlEntry): void {
  const at = tools.findIndex(({ key }) => key === tool.key);
  if (at < 0) tools.push(tool);
  else if (isNothing(tools[at]!.value)) tools[at] = tool;
  else {
    const before = tools[at]!.value;
    const given = tool.value.kind === 'map' ? tool.value.entries.get('arguments') : undefined;
    const own = before.kind === 'map' ? before.entries.get('arguments') : undefined;
    if (before.kind !== 'map' || given?.value.kind !== 'map') return;
    const inner = own?.value.kind === 'map' ? [...own.value.entries.values()] : [];
    const more = [...given.value.entries.values()].filter(
      ({ key }) => !inner.some((each) => each.key === key),
    );
    const joinedArguments = entryAt(given, 'arguments', mapAt(given.value, [...inner, ...more]));
    const others = [...before.entries.values()].filter(({ key }) => key !== 'arguments');
    tools[at] = entryAt(tools[at]!, tool.key, mapAt(before, [...others, joinedArguments]));
  }
}

const joined = (a: YamlNode, b: YamlNode): YamlNode =>
  a.kind === 'seq' && b.kind === 'seq' ? { ...a, items: [...a.items, ...b.items] } : a;

/** A map of entries from elsewhere, with the location of a node. */
export const mapAt = (
  { source, start }: Pick<YamlNode, 'source' | 'start'>,
  entries: readonly YamlEntry[],
): YamlMap => ({
  kind: 'map',
  source,
  start,
  entries: new Map(entries.map((entry) => [entry.key, entry])),
});

export const entryAt = (
  { keySource, keyStart }: Pick<YamlEntry, 'keySource' | 'keyStart'>,
  key: string,
  value: YamlNode,
): YamlEntry => ({
  key,
  keySource,
  keyStart,
  value,
});

export const scalarAt = (
  { source, start }: Pick<YamlNode, 'source' | 'start'>,
  value: YamlScalarValue,
): YamlNode => ({
  kind: 'scalar',
  source,
  start,
  value,
  style: 'plain',
});

/** `#/schemas/$defs/x` is the path from the policy's root for `#/$defs/x` inside its schemas. */
export function withLocalReferences(node: YamlNode): YamlNode {
  if (node.kind === 'seq') return { ...node, items: node.items.map(withLocalReferences) };
  if (node.kind !== 'map') return node;
  const entries = [...node.entries].map(([key, entry]): [string, YamlEntry] => {
    const { value } = entry;
    if (key === '$ref' && value.kind === 'scalar' && typeof value.value === 'string')
      return [
        key,
        {
          ...entry,
          value: { ...value, value: value.value.replace(/^#\/schemas\/\$defs\//, '#/$defs/') },
        },
      ];
    return [key, { ...entry, value: withLocalReferences(value) }];
  });
  return { ...node, entries: new Map(entries) };
}

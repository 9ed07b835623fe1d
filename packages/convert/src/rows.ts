import type { CaseLayout, LayerLayout, Owned } from './layout.ts';
import { Literal } from './literal.ts';
import type { Block, BlockValue, ConvertedCase } from './model.ts';
import { escapeBraces, type TextWriter } from './yaml-text.ts';

/** Cases that differ only in their texts: one query and a table. */
export interface RowSet {
  readonly file: string;
  readonly shape: CaseLayout;
  readonly write: TextWriter;
  /** The table, one JSON object per line. */
  readonly rows: string;
}

/** From this number of cases on, a table is more readable than queries. */
export const ROWS_FROM = 50;

const OPEN = '\ue000';
const CLOSE = '\ue001';
const MARK = /\ue000([a-z0-9_]+)\ue001/g;
/** Texts under these keys may come from a row. Expressions and schemas are written out. */
const TEXT_KEYS = new Set(['rule', 'to']);

/**
 * Puts cases of the same shape into tables. The others stay separate queries. Keeps the order of
 * first appearance.
 */
export function gatherRows(
  layouts: readonly CaseLayout[],
  from: number = ROWS_FROM,
): readonly (CaseLayout | RowSet)[] {
  if (layouts.length < from) return layouts;
  const groups = new Map<string, Member[]>();
  for (const layout of layouts) {
    const texts: Text[] = [];
    const key = shapeOf(layout, texts);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [{ layout, texts }]);
    else group.push({ layout, texts });
  }
  const gathered: (CaseLayout | RowSet)[] = [];
  let count = 0;
  for (const [key, group] of groups) {
    if (group.length < from || key === '') for (const { layout } of group) gathered.push(layout);
    else gathered.push(rowSet(group, ++count));
  }
  return gathered;
}

interface Text {
  readonly kind: string;
  readonly text: string;
}

interface Member {
  readonly layout: CaseLayout;
  /** The texts for a row, in the order of the layout. */
  readonly texts: readonly Text[];
}

type Leaf = (text: string, kind: string) => string;

/** The layout with `leaf` applied to every text for a row, always in the same order. */
function mapTexts(layout: CaseLayout, leaf: Leaf): CaseLayout {
  const { source } = layout;
  const text = (value: string | undefined, kind: string): string | undefined =>
    value === undefined ? undefined : leaf(value, kind);
  const query = leaf(source.query, 'input');
  const description = text(source.description, 'note');
  const expectedOutput = text(source.expectedOutput, 'reference');
  const metadata =
    source.metadata === undefined
      ? undefined
      : Object.fromEntries(
          Object.entries(source.metadata).map(([key, value]) => [
            key,
            typeof value === 'string' ? leaf(value, 'meta') : value,
          ]),
        );
  return {
    ...layout,
    layers: layout.layers.map((layer) => mapLayer(layer, leaf)),
    source: {
      ...source,
      query,
      description: description ?? source.description,
      expectedOutput: expectedOutput ?? source.expectedOutput,
      metadata: metadata ?? source.metadata,
    },
  };
}

function mapLayer({ keys, lists, all, ...rest }: LayerLayout, leaf: Leaf): LayerLayout {
  const one = <T extends BlockValue>({ value, owner }: Owned<T>, key: string): Owned<T> => ({
    value: mapValue(value, key, leaf) as T,
    owner,
  });
  return {
    ...rest,
    keys: new Map([...keys].map(([key, owned]) => [key, one(owned, key)])),
    lists: new Map([...lists].map(([key, items]) => [key, items.map((item) => one(item, key))])),
    all: all.map((item) => one<Block>(item, 'all')),
  };
}

function mapValue(value: BlockValue, key: string, leaf: Leaf): BlockValue {
  if (value instanceof Literal) {
    const { before, after } = value;
    return new Literal(leaf(value.text, 'expected'), { before, after });
  }
  if (typeof value === 'string')
    return TEXT_KEYS.has(key) ? leaf(value, key === 'to' ? 'expected' : key) : value;
  if (Array.isArray(value)) return value.map((item) => mapValue(item as BlockValue, key, leaf));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([inner, item]) => [inner, mapValue(item, inner, leaf)]),
  );
}

/** Equal for cases that differ only in texts. Empty for cases that cannot be in a table. */
function shapeOf(layout: CaseLayout, texts: Text[]): string {
  const { source } = layout;
  if (source.conversation !== undefined || layout.turns.length > 0 || source.policy !== undefined)
    return '';
  const names = Object.keys(source.vars ?? {});
  if (names.some((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name === 'id')) return '';
  let isMarked = false;
  const mapped = mapTexts(layout, (text, kind) => {
    texts.push({ kind, text });
    if (text.includes(OPEN) || text.includes(CLOSE) || text === '') isMarked = true;
    return kind;
  });
  if (isMarked) return '';
  const { tags, runs, context, description, expectedOutput, metadata } = mapped.source;
  const layers = mapped.layers.map(({ layer, severity, keys, lists, all }) => [
    layer,
    severity,
    [...keys].map(([key, { value, owner }]) => [key, value, owner.finding.verdict]),
    [...lists].map(([key, items]) => [key, items.map(({ value }) => value)]),
    all.map(({ value }) => value),
  ]);
  const left = layout.left.map(({ type, why }) => [type, why]);
  return JSON.stringify([
    names,
    tags,
    runs,
    context,
    description,
    expectedOutput,
    metadata,
    layout.skip,
    layers,
    left,
  ]);
}

function rowSet(group: readonly Member[], number: number): RowSet {
  const [{ layout: first, texts: firstTexts }] = group as readonly [Member, ...Member[]];
  const taken = new Set(['id', ...Object.keys(first.source.vars ?? {})]);
  const columns = firstTexts.map(({ kind, text }, i) => {
    // The query is in the table even if all are equal, because a table without it would look odd.
    if (kind !== 'input' && group.every(({ texts }) => texts[i]!.text === text)) return undefined;
    let name = kind;
    for (let n = 2; taken.has(name); n++) name = `${kind}_${n}`;
    taken.add(name);
    return name;
  });
  let at = 0;
  const shape = mapTexts(first, (text) => {
    const column = columns[at++];
    return column === undefined ? text : `${OPEN}${column}${CLOSE}`;
  });
  const rows = group.map(({ layout: { id, source }, texts }) => {
    const cells: Record<string, BlockValue> = { id, ...(source.vars ?? {}) };
    for (const [i, column] of columns.entries())
      if (column !== undefined) cells[column] = texts[i]!.text;
    return `${JSON.stringify(cells)}\n`;
  });
  const name = number === 1 ? 'cases' : `cases-${number}`;
  return {
    file: `rows/${name}.jsonl`,
    shape: { ...shape, id: name, source: withoutVars(shape.source) },
    write: (text) => escapeBraces(text).replace(MARK, '{{$1}}'),
    rows: rows.join(''),
  };
}

function withoutVars({ vars: _, ...rest }: ConvertedCase): ConvertedCase {
  return rest;
}

import type { Mutable } from '@agentci/lib/data';
import { didYouMean, valueText } from '@agentci/lib/text';
import {
  locate,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlPlace,
} from '@agentci/lib/yaml';
import type { Cell, Layer } from '@agentci/results';
import type { SpecFolder } from './files.ts';
import { isLayer, LAYER_KEYS } from './layer-keys.ts';
import type { SpecProblems } from './problems.ts';
import { slugOf } from './query-id.ts';
import {
  type Draft,
  type IdBase,
  newDraft,
  type QueryReader,
  type ReadQuery,
  VALUE_SCHEMAS,
} from './query-reader.ts';
import { RowProblems, UnusedColumns } from './row-problems.ts';
import { openRows, type Row, type Rows } from './rows.ts';
import type { Query } from './suite.ts';
import { checkValue, isBroken } from './value-check.ts';
import {
  findVariables,
  fitTexts,
  mergeVars,
  type Scope,
  slotPlace,
  type VariableEntry,
  type VariableText,
} from './variables.ts';

type Vars = Readonly<Record<string, unknown>>;

export interface SuiteScope {
  /** `vars` of the root. */
  readonly vars: Vars | undefined;
  readonly cells: readonly Cell[] | undefined;
  /** Variables in texts of the runner. */
  readonly runnerNames: ReadonlySet<string>;
  /** Base folder of row files. */
  readonly folder: SpecFolder;
}

/** A layer's block with variables in some entries. */
interface VariableBlock {
  readonly layer: Layer;
  readonly entries: readonly (YamlEntry | VariableEntry)[];
  readonly constants: ReadonlySet<YamlEntry>;
}

/** A query with its variables. */
interface Pattern {
  readonly node: YamlMap;
  /** The parts that are equal for every row and cell, read once. */
  readonly base: Draft;
  readonly values: readonly VariableEntry[];
  readonly blocks: readonly VariableBlock[];
  readonly id: VariableEntry | undefined;
  readonly texts: readonly VariableText[];
  readonly usesMatrix: boolean;
  readonly idBase: IdBase;
}

/**
 * Reads queries with variables: one for every row, and for each row one for every cell of the
 * matrix.
 */
export class ScopedReader {
  readonly #reader: QueryReader;
  readonly #problems: SpecProblems;
  readonly #suite: SuiteScope;
  readonly #unused = new UnusedColumns();

  constructor(reader: QueryReader, problems: SpecProblems, suite: SuiteScope) {
    this.#reader = reader;
    this.#problems = problems;
    this.#suite = suite;
  }

  read(node: YamlMap): readonly ReadQuery[] {
    const entries = this.#reader.entriesOf(node);
    const { own, rowsEntry } = this.#scopeOf(entries);
    const pattern = this.#pattern(node, entries);
    const rows =
      rowsEntry === undefined
        ? undefined
        : openRows(rowsEntry.value, this.#suite.folder, this.#problems);
    if (rowsEntry !== undefined && rows === undefined) return [];
    const plain = hashBasis(entries, rows);
    const read = new RowsOfQuery(this.#reader, this.#problems, this.#suite, pattern, {
      own,
      rows,
      unused: this.#unused,
    });
    const found: ReadQuery[] = [];
    if (rows === undefined) {
      const one = read.add(NO_ROW);
      if (one !== undefined) found.push({ ...one, plain });
    } else {
      for (const row of rows.read()) {
        const one = read.add(row);
        if (one !== undefined) found.push(found.length === 0 ? { ...one, plain } : one);
      }
    }
    read.finish(rowsEntry, entries);
    return found;
  }

  /** Called after the last query. */
  finish(): void {
    for (const { place, problem } of this.#unused.found()) this.#problems.add(place, problem);
  }

  #scopeOf(entries: readonly YamlEntry[]): {
    own: Vars | undefined;
    rowsEntry: YamlEntry | undefined;
  } {
    let own: Vars | undefined;
    let rowsEntry: YamlEntry | undefined;
    for (const entry of entries) {
      if (entry.key !== 'vars' && entry.key !== 'rows') continue;
      const isFile = entry.key === 'rows' && entry.value.kind === 'scalar';
      // A list of rows is read item by item, each with its place.
      const isList =
        entry.key === 'rows' && entry.value.kind === 'seq' && entry.value.items.length > 0;
      if (!isList && !checkValue(entry, VALUE_SCHEMAS.get(entry.key)!, this.#problems)) continue;
      if (entry.key === 'vars') own = toPlain(entry.value) as Vars;
      else if (isFile || isList) rowsEntry = entry;
    }
    return { own, rowsEntry };
  }

  #pattern(node: YamlMap, entries: readonly YamlEntry[]): Pattern {
    const base = newDraft();
    const values: VariableEntry[] = [];
    const blocks: VariableBlock[] = [];
    const texts: VariableText[] = [];
    let id: VariableEntry | undefined;
    for (const entry of entries) {
      const { key } = entry;
      if (key === 'vars' || key === 'rows') continue;
      if (isLayer(key) && entry.value.kind === 'map') {
        const block = this.#block(key, entry);
        if (block === undefined) continue;
        if (block.constants.size === block.entries.length)
          this.#reader.applyBlock(base, key, block.entries as readonly YamlEntry[], () => true);
        else blocks.push(block);
        for (const each of block.entries) if ('fill' in each) texts.push(...each.texts);
        continue;
      }
      const found = isBroken(entry.value) ? undefined : findVariables(entry, this.#problems);
      if (found === undefined) this.#reader.apply(base, entry);
      else {
        texts.push(...found.texts);
        if (key === 'id') id = found;
        else values.push(found);
      }
    }
    const matrix = new Set(Object.keys(this.#suite.cells?.[0] ?? {}));
    const usesMatrix = texts.some(({ slots }) => slots.some(({ name }) => matrix.has(name)));
    this.#checkId(id, matrix);
    const text = firstMessage(node);
    const written = typeof base.plain.id === 'string' ? base.plain.id : undefined;
    const idBase = {
      text: text?.kind === 'scalar' ? String(text.value) : '',
      written,
    };
    return { node, base, values, blocks, id, texts, usesMatrix, idBase };
  }

  #block(layer: Layer, entry: YamlEntry): VariableBlock | undefined {
    const merged = this.#reader.entriesOfBlock(layer, entry);
    if (merged === undefined) return undefined;
    const entries = merged.map((each) => findVariables(each, this.#problems) ?? each);
    return {
      layer,
      entries,
      constants: new Set(entries.filter((each): each is YamlEntry => !('fill' in each))),
    };
  }

  #checkId(id: VariableEntry | undefined, matrix: ReadonlySet<string>): void {
    for (const { node, slots } of id?.texts ?? []) {
      const slot = slots.find(({ name }) => matrix.has(name));
      if (slot === undefined) continue;
      this.#problems.add(slotPlace(node, slot.start), {
        code: 'SPEC_VARIABLE',
        message: `an id is the same in every cell, so it cannot hold "${slot.name}" of the matrix`,
        hint: 'results are identified by id and cell, so leave it out of the id',
      });
    }
  }
}

/** The first message to the agent. */
function firstMessage({ entries }: YamlMap): YamlNode | undefined {
  const conversation = entries.get('conversation')?.value;
  const start = conversation?.kind === 'map' ? conversation.entries.get('start')?.value : undefined;
  return entries.get('query')?.value ?? start;
}

/** A row with an empty reason has none: it is run and expected to pass. */
const isLeftOpen = ({ key, value }: YamlEntry): boolean =>
  (key === 'skip' || key === 'xfail') &&
  value.kind === 'scalar' &&
  (value.value === null || (typeof value.value === 'string' && value.value.trim() === ''));

const NO_ROW = undefined;

/** Builds the queries of one pattern, row by row. */
class RowsOfQuery {
  readonly #reader: QueryReader;
  readonly #problems: SpecProblems;
  readonly #suite: SuiteScope;
  readonly #pattern: Pattern;
  readonly #own: Vars | undefined;
  readonly #rows: Rows | undefined;
  readonly #unused: UnusedColumns;
  readonly #told: RowProblems;
  readonly #location;
  readonly #columns = new Map<string, YamlPlace>();
  #count = 0;
  #isLocated = false;

  constructor(
    reader: QueryReader,
    problems: SpecProblems,
    suite: SuiteScope,
    pattern: Pattern,
    { own, rows, unused }: { own: Vars | undefined; rows: Rows | undefined; unused: UnusedColumns },
  ) {
    this.#reader = reader;
    this.#problems = problems;
    this.#suite = suite;
    this.#pattern = pattern;
    this.#own = own;
    this.#rows = rows;
    this.#unused = unused;
    this.#told = new RowProblems(pattern.texts);
    this.#location = locate(pattern.node.source, pattern.node.start);
  }

  add(row: Row | undefined): ReadQuery | undefined {
    this.#count++;
    if (row !== undefined)
      for (const name of Object.keys(row.vars))
        if (!this.#columns.has(name))
          this.#columns.set(name, this.#rows?.headerOf?.(name) ?? row.placeOf(name));
    if (row === undefined) return this.#readRow(row);
    return this.#problems.within(this.#told.relocate(row), () => this.#readRow(row));
  }

  #readRow(row: Row | undefined): ReadQuery | undefined {
    const vars = mergeVars(this.#suite.vars, this.#own, row?.vars);
    const { cells = [undefined] } = this.#suite;
    if (!this.#hasAll(vars, cells[0], row)) return undefined;
    const queries: Mutable<Query>[] = [];
    for (const cell of cells) {
      const all = cell === undefined ? vars : mergeVars(vars, cell);
      const [first] = queries;
      const query =
        first !== undefined && !this.#pattern.usesMatrix ? { ...first } : this.#make(all, row);
      query.vars = all;
      if (cell !== undefined) query.cell = cell;
      queries.push(query);
    }
    return { ...this.#named(vars, row, queries[0]!), plain: undefined, queries };
  }

  /** Whether every variable exists. Reports a missing one at its braces. */
  #hasAll(vars: Vars, cell: Cell | undefined, row: Row | undefined): boolean {
    let hasAll = true;
    for (const { node, slots } of this.#pattern.texts) {
      for (const { name, start } of slots) {
        if (Object.hasOwn(vars, name) || (cell !== undefined && Object.hasOwn(cell, name)))
          continue;
        hasAll = false;
        const known = Object.keys(mergeVars(vars, cell));
        const near = didYouMean(name, known);
        const problem = this.#told.missing(slotPlace(node, start), row, {
          code: 'SPEC_VARIABLE_MISSING',
          message: `there is no variable "${name}" here`,
          hint:
            near === undefined
              ? `${known.length === 0 ? 'there are none' : `there are: ${known.slice(0, 20).join(', ')}`}; write \\{{ where braces are meant as text`
              : `did you mean "${near}"?`,
        });
        if (problem !== undefined)
          this.#problems.within(
            () => undefined,
            () => this.#problems.add(slotPlace(node, start), problem),
          );
      }
    }
    return hasAll;
  }

  /** A backslash before a variable is usually literal, as in a Windows path. */
  #warnOfEscaped(): void {
    const { vars, cells } = this.#suite;
    const known = mergeVars(vars, this.#own, cells?.[0]);
    for (const { node, escaped } of this.#pattern.texts) {
      const slot = escaped.find(
        ({ name }) => Object.hasOwn(known, name) || this.#columns.has(name),
      );
      if (slot === undefined) continue;
      this.#problems.add(slotPlace(node, slot.start), {
        severity: 'warning',
        code: 'SPEC_VARIABLE',
        message: `the backslash makes "{{${slot.name}}}" plain text, though there is a variable "${slot.name}"`,
        hint: 'for a backslash and then the value write two backslashes (in double quotes four)',
      });
    }
  }

  #make(vars: Vars, row: Row | undefined): Mutable<Query> {
    const { base, values, blocks, node } = this.#pattern;
    const scope: Scope = {
      get: (name) => vars[name],
      isText: (name) =>
        this.#rows?.isText === true && row !== undefined && row.vars[name] === vars[name],
    };
    const draft: Draft = {
      plain: { ...base.plain },
      // The locations are in the spec and equal for every row.
      locations: this.#isLocated ? {} : base.locations,
      hasChecks: base.hasChecks,
      policy: base.policy,
      turns: base.turns,
    };
    for (const value of values) {
      const filled = value.fill(scope);
      if (!isLeftOpen(filled))
        this.#reader.apply(draft, fitted(filled, VALUE_SCHEMAS.get(value.entry.key)));
    }
    for (const { layer, entries, constants } of blocks) {
      const filled = entries.map((each) =>
        'fill' in each
          ? fitted(each.fill(scope), LAYER_KEYS[layer].get(each.entry.key)?.schema)
          : each,
      );
      this.#reader.applyBlock(draft, layer, filled, (entry) => constants.has(entry));
    }
    draft.locations = base.locations;
    this.#isLocated = true;
    return this.#reader.complete(draft, node, this.#location);
  }

  #named(
    vars: Vars,
    row: Row | undefined,
    query: Mutable<Query>,
  ): Pick<ReadQuery, 'idPlace' | 'named'> {
    const { id, idBase, node, usesMatrix } = this.#pattern;
    const idNode = node.entries.get('id')?.value;
    if (row !== undefined && Object.hasOwn(row.vars, 'id') && id === undefined) {
      query.id = this.#slug(valueText(row.vars.id), row.placeOf('id'));
      return { idPlace: row.placeOf('id') };
    }
    if (id !== undefined) {
      const filled = id.fill({ get: (name) => vars[name], isText: () => false }).value;
      query.id = this.#slug(valueText(toPlain(filled)), row?.place ?? filled);
      return { idPlace: row?.place ?? filled };
    }
    if (row !== undefined) {
      query.id = '';
      return { idPlace: idNode, named: { base: idBase, row: this.#count } };
    }
    return {
      idPlace: idNode,
      named: { base: usesMatrix ? idBase : { ...idBase, text: query.query } },
    };
  }

  #slug(written: string, place: YamlPlace): string {
    if (written.trim() !== '') return slugOf(written);
    this.#problems.within(
      () => undefined,
      () =>
        this.#problems.add(place, { code: 'SPEC_ROWS', message: 'the id of this row is empty' }),
    );
    return '-';
  }

  /** Called after the last row. */
  finish(rowsEntry: YamlEntry | undefined, entries: readonly YamlEntry[]): void {
    for (const { place, problem } of this.#told.rest()) this.#problems.add(place, problem);
    this.#warnOfEscaped();
    if (rowsEntry === undefined) return;
    if (this.#count === 0 && !this.#problems.hasErrors)
      this.#problems.add(rowsEntry.value, {
        code: 'SPEC_EMPTY',
        message: '"rows" has no rows: nothing would be tested',
      });
    const readers = entries.flatMap(({ key, value }) => codeIn(value, key));
    const used = new Set(this.#pattern.texts.flatMap(({ slots }) => slots.map(({ name }) => name)));
    for (const [name, place] of this.#columns) {
      const isRead = readers.some((text) => text === ANY_CODE || text.includes(name));
      if (name === 'id' || used.has(name) || this.#suite.runnerNames.has(name) || isRead) {
        this.#unused.see(place);
        continue;
      }
      const isHidden = Object.hasOwn(this.#suite.cells?.[0] ?? {}, name);
      this.#unused.add(place, {
        severity: 'warning',
        code: 'ROWS_UNUSED',
        message: isHidden
          ? `the matrix replaces the variable "${name}"`
          : `nothing uses the variable "${name}"`,
        hint: `remove it, or hand it to the agent by name: metadata: {${name}: "{{${name}}}"}`,
      });
    }
  }
}

const fitted = (entry: YamlEntry, schema: Parameters<typeof fitTexts>[0] | undefined): YamlEntry =>
  schema === undefined ? entry : { ...entry, value: fitTexts(schema, entry.value) };

/** Custom check code may read any variable. */
const ANY_CODE = Symbol('any');

/** The expressions and code below a node, which read variables directly. */
function codeIn(node: YamlNode, key: string): (string | typeof ANY_CODE)[] {
  if (key === 'code') return [ANY_CODE];
  if (node.kind === 'scalar') return key === 'expr' ? [String(node.value)] : [];
  if (node.kind === 'seq') return node.items.flatMap((item) => codeIn(item, key));
  return [...node.entries.values()].flatMap((entry) => codeIn(entry.value, entry.key));
}

/** The input of the spec's hash: the query as written, and the rows as in their file. */
function hashBasis(
  entries: readonly YamlEntry[],
  rows: Rows | undefined,
): Readonly<Record<string, unknown>> {
  const plain = Object.fromEntries(entries.map(({ key, value }) => [key, toPlain(value)]));
  return rows?.text === undefined ? plain : { ...plain, rows_text: rows.text };
}

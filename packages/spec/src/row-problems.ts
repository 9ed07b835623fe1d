import type { Problem } from '@agentci/lib/problems';
import { locate, type YamlPlace } from '@agentci/lib/yaml';
import type { Relocate } from './problems.ts';
import type { Row } from './rows.ts';
import type { VariableText } from './variables.ts';

/** Number of rows to list for the same problem. */
const MAX_TOLD = 10;

interface Told {
  count: number;
  readonly place: YamlPlace;
  readonly problem: Problem;
}

/**
 * Reports the problems of rows at the cell of the value, with the place in the spec that uses it.
 */
export class RowProblems {
  /** The names in each text, by its position. */
  readonly #names = new Map<number, readonly string[]>();
  readonly #told = new Map<string, Told>();

  constructor(texts: readonly VariableText[]) {
    for (const { node, slots } of texts)
      this.#names.set(
        node.start,
        slots.map(({ name }) => name),
      );
  }

  relocate(row: Row): Relocate {
    return (place, problem) => {
      const names = this.#names.get(place.start)?.filter((name) => Object.hasOwn(row.vars, name));
      if (names === undefined || names.length === 0) return undefined;
      if (!this.#isWorthTelling(place, problem)) return 'enough';
      return {
        place: row.placeOf(names[0]!),
        problem: { ...problem, message: `${problem.message} (${placeText(place)} uses it)` },
      };
    };
  }

  /** A variable that a row lacks. Undefined if enough rows were listed. */
  missing(place: YamlPlace, row: Row | undefined, problem: Problem): Problem | undefined {
    if (!this.#isWorthTelling(place, problem)) return undefined;
    return row === undefined
      ? problem
      : { ...problem, message: `${problem.message} (row at ${placeText(row.place)})` };
  }

  /** The number of further rows for each shortened problem. */
  rest(): { place: YamlPlace; problem: Problem }[] {
    return [...this.#told.values()].flatMap(({ count, place, problem }) =>
      count <= MAX_TOLD
        ? []
        : [
            {
              place,
              problem: {
                severity: problem.severity,
                code: problem.code,
                message: `${count - MAX_TOLD} more rows have this problem`,
              },
            },
          ],
    );
  }

  #isWorthTelling(place: YamlPlace, problem: Problem): boolean {
    const key = `${place.start} ${problem.code}`;
    let told = this.#told.get(key);
    if (told === undefined) {
      told = { count: 0, place, problem };
      this.#told.set(key, told);
    }
    return ++told.count <= MAX_TOLD;
  }
}

function placeText({ source, start }: YamlPlace): string {
  const { file, line, column } = locate(source, start);
  return `${file}:${line}:${column}`;
}

/**
 * Columns that no query uses. If one file serves several queries, a column is reported once, if
 * none of them uses it.
 */
export class UnusedColumns {
  readonly #used = new Set<string>();
  readonly #unused = new Map<string, { readonly place: YamlPlace; readonly problem: Problem }>();

  /** Marks the column as used by a query. */
  see(place: YamlPlace): void {
    this.#used.add(keyOf(place));
  }

  add(place: YamlPlace, problem: Problem): void {
    if (!this.#unused.has(keyOf(place))) this.#unused.set(keyOf(place), { place, problem });
  }

  found(): { readonly place: YamlPlace; readonly problem: Problem }[] {
    return [...this.#unused].flatMap(([key, found]) => (this.#used.has(key) ? [] : [found]));
  }
}

const keyOf = ({ source, start }: YamlPlace): string => `${start} ${source.file}`;

import { shortHash } from '@agentci/lib/data';
import { caseText, cellText } from './cell.ts';
import { commonText } from './common-text.ts';
import { errorClass, withoutLiterals } from './failure-signature.ts';
import type { CheckResult, QueryResult, RunResult } from './run-result.ts';
import { checksOf } from './status.ts';

/** Failures with the same signature. */
export interface FailureGroup {
  /** Eight digits, stable across runs. */
  signature: string;
  /** The deciding check, or `error.KIND` if the query could not be judged. */
  check: string;
  kind: 'fail' | 'error';
  /** Their common message without literals. */
  pattern: string;
  /** The common message, with the differences left out. */
  title: string;
  /** The message of the first failure. */
  example: string;
  /** The first failures with their messages, by case name (`refund (model=a)`). */
  examples: { query: string; message: string }[];
  /** Ids in spec order. */
  queries: string[];
  /** With a matrix: the cells with failures. */
  cells?: string[];
  /** With a matrix: number of failed cases, counting each query once per cell. */
  cases?: number;
}

const MAX_EXAMPLES = 3;

/** Below this number, a list says as much as groups. */
export const GROUPS_FROM = 5;

/**
 * Groups the failures of a run by signature: check, kind, location, expectation without literals,
 * error class. Independent of the order of results. Larger groups come first.
 */
export function groupFailures(run: Pick<RunResult, 'results'>): FailureGroup[] {
  const groups = new Map<string, Gathered>();
  for (const result of run.results) {
    if (result.status !== 'fail' && result.status !== 'error') continue;
    for (const { check, kind, pattern, message } of findingsIn(result)) {
      const key = `${check}\n${kind}\n${pattern}`;
      let group = groups.get(key);
      if (group === undefined) {
        group = {
          signature: shortHash(key),
          check,
          kind,
          pattern,
          title: message,
          example: message,
          examples: [],
          queries: new Set(),
          cells: new Set(),
          cases: new Set(),
        };
        groups.set(key, group);
      } else group.title = commonText(group.title, message);
      const name = caseText(result);
      if (!group.queries.has(result.id) && group.examples.length < MAX_EXAMPLES)
        group.examples.push({ query: name, message });
      group.queries.add(result.id);
      group.cases.add(name);
      if (result.cell !== undefined) group.cells.add(cellText(result.cell));
    }
  }
  return [...groups.values()]
    .map(({ queries, cells, cases, ...group }) => ({
      ...group,
      queries: [...queries],
      cells: cells.size === 0 ? undefined : [...cells],
      cases: cells.size === 0 ? undefined : cases.size,
    }))
    .sort(
      (a, b) =>
        b.queries.length - a.queries.length ||
        (b.cases ?? 0) - (a.cases ?? 0) ||
        (a.signature < b.signature ? -1 : 1),
    );
}

interface Gathered extends Omit<FailureGroup, 'queries' | 'cells' | 'cases'> {
  readonly queries: Set<string>;
  readonly cells: Set<string>;
  readonly cases: Set<string>;
}

interface Found {
  readonly check: string;
  readonly kind: 'fail' | 'error';
  readonly pattern: string;
  readonly message: string;
}

/** The causes of a failure: the error, or the checks with the query's status. */
function findingsIn(result: QueryResult): Found[] {
  const { error, status } = result;
  if (error !== undefined)
    return [
      {
        check: `error.${error.kind}`,
        kind: 'error',
        pattern: errorPattern(result),
        message: error.message,
      },
    ];
  const decided = checksOf(result).filter((check) => check.status === status);
  return decided.map((check) => ({
    check: check.id,
    kind: check.status as Found['kind'],
    pattern: patternOf(check),
    message: check.message,
  }));
}

/** A cassette miss is identified by the kind of change, not by its texts. */
function errorPattern({ error, cassette }: QueryResult): string {
  const { kind, message } = error!;
  if (kind !== 'cassette_miss') return errorClass(message);
  const [cause] = cassette?.causes ?? [];
  return cause === undefined
    ? withoutLiterals(message.replace(/; record it with: .*$/s, ''))
    : `not as recorded: ${cause}`;
}

/** A check that could not be evaluated reports another program's words. */
const patternOf = ({ status, message }: CheckResult): string =>
  status === 'error' ? errorClass(message) : withoutLiterals(message);

/** How groups changed since another run, matched by signature. */
export interface GroupHistory {
  /** Current groups by signature. */
  readonly since: ReadonlyMap<string, 'new' | 'known'>;
  /** All of their queries were judged and have another verdict. */
  readonly gone: readonly FailureGroup[];
  /** Not seen, but some of their queries were not judged, so the group may persist. */
  readonly notRun: readonly FailureGroup[];
}

/** `judged`: ids with a verdict in this run. */
export function compareGroups(
  before: readonly FailureGroup[],
  after: readonly FailureGroup[],
  judged: ReadonlySet<string>,
): GroupHistory {
  const old = new Set(before.map(({ signature }) => signature));
  const now = new Set(after.map(({ signature }) => signature));
  const missing = before.filter(({ signature }) => !now.has(signature));
  const isJudged = ({ queries }: FailureGroup): boolean => queries.every((id) => judged.has(id));
  return {
    since: new Map(after.map(({ signature }) => [signature, old.has(signature) ? 'known' : 'new'])),
    gone: missing.filter(isJudged),
    notRun: missing.filter((group) => !isJudged(group)),
  };
}
